// What `os2g index` says of the labels and sizes that it found.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { indexResult } from '../../runtime-node/cli/index/index-document.js';
import type { FormatName } from '../../runtime-node/formats/format.js';
import type { IndexedRows } from '../../runtime-node/formats/pipeline/index-run.js';

function textOf(format: FormatName, labels: number, pictures: IndexedRows['pictures'] = null): string {
  const description = {
    ...{ rows: 4, objects: 4, totalLength: 40, minLength: 10, medianLength: 10, maxLength: 10 },
    ...{ labels, datasetHash: 'x' },
  };
  const none = { count: 0, examples: [] };
  const rows: IndexedRows = {
    ...{
      format,
      rows: 4,
      optional: [],
      sorted: () => [],
      notes: [],
      update: null,
      pictures,
      plannedFrom: [],
    },
    listing: { pages: 1, markers: none, empty: none, archived: none, outsideFolder: none },
    pieces: { read: 4, fromWorkFile: 0, fromManifest: 0 },
    close: () => {},
  };
  const effort = { source: 's3://b/', output: 'm', seconds: 1, listRequests: 1, requests: 4, bytesRead: 400 };
  return indexResult(description, rows, effort).text;
}

const LABELS: [format: FormatName, labels: number, said: RegExp][] = [
  ['objects', 3, /^labels +3, from the folder of each key$/m],
  ['npy', 3, /^labels +3, from the folder of each key$/m],
  ['parquet', 3, /^labels +3, from the column of the list$/m],
  ['parquet', 0, /^labels +none$/m],
  ['mds', 0, /^labels +none$/m],
  ['tar', 0, /^labels +none$/m],
  // Of the writer of a manifest that was brought up to date.
  ['tar', 3, /^labels +3$/m],
];
for (const [format, labels, said] of LABELS) {
  test(`${labels} labels of the format ${format}: ${said.source}`, () => {
    assert.match(textOf(format, labels), said);
  });
}

test('sizes are told where they were asked for, with what was read for them', () => {
  const text = textOf('objects', 0, { sized: 3, without: 1 });
  assert.match(text, /^pictures +3 with width and height, 1 without$/m);
  assert.match(text, /^read +4 objects: 4 requests, 400 /m);
  assert.not.match(textOf('objects', 0), /^(?:pictures|read) /m);
});

test.run();
