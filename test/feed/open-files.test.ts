// The limit of open files: what is said where connections may use it up.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fileProblem, writeMend } from '../../runtime-node/file-problem.js';
import { type FileLimit, fileLimitWarning, openFilesLimit } from '../../runtime-node/open-files.js';
import { tell } from '../../runtime-node/wording.js';

const LIMITS: [situation: string, connections: number, limit: FileLimit, says: RegExp | null][] = [
  ['room for all', 1024, 1088, null],
  ['one too few', 1024, 1087, /1087 files open, and concurrency\.max is 1024: .*ulimit -n 1088.* to 1023$/],
  ['none left for connections', 8, 20, /concurrency\.max to 1$/],
  ['no limit', 16_384, 'unlimited', null],
  ['not known', 16_384, null, null],
];
for (const [situation, connections, limit, says] of LIMITS) {
  test(`limit of open files: ${situation}`, () => {
    const said = fileLimitWarning(connections, limit);
    if (says === null) assert.is(said, null);
    else assert.match(said ?? '', says);
  });
}

test('the limit of this process is known', () => {
  const limit = openFilesLimit();
  assert.ok(limit === 'unlimited' || (limit !== null && limit > 0), String(limit));
});

const PROBLEMS: [code: string, problem: RegExp, mend: RegExp][] = [
  ['EMFILE', /^this process has too many files open/, /^raise the limit of open files/],
  ['ENFILE', /^this machine has too many files open/, /^raise the limit of open files/],
  ['ENOSPC', /^the disk is full/, /^make room/],
];
for (const [code, problem, mend] of PROBLEMS) {
  test(`a write that fails with ${code}: what to do`, () => {
    const cause = Object.assign(new Error(`${code}: raw`), { code });
    assert.match(fileProblem(cause), problem);
    assert.match(tell(writeMend(cause), 'command'), mend);
  });
}

test.run();
