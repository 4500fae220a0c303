import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RecentMap } from '../../runtime-node/engine/recent-map.js';

const ROWS: [what: string, set: string, kept: string][] = [
  ['fewer than the most', 'ab', 'ab'],
  ['as many', 'abc', 'abc'],
  ['one more: the oldest goes', 'abcd', 'bcd'],
  ['what is set again is new again', 'abcad', 'cad'],
  ['the same, over and over', 'aaaaab', 'ab'],
];
for (const [what, set, kept] of ROWS) {
  test(`of three: ${what}`, () => {
    const map = new RecentMap<string, number>(3);
    for (const [i, key] of [...set].entries()) map.set(key, i);
    assert.is([...map.keys()].join(''), kept);
    for (const key of kept) assert.is(map.get(key), set.lastIndexOf(key));
  });
}

test.run();
