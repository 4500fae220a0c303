import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Binary,
  CompressionType,
  compressionRegistry,
  Float64,
  RecordBatchStreamWriter,
  Schema,
  Table,
  tableToIPC,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../runtime-node/errors.js';
import { readManifest } from '../../runtime-node/manifest/arrow-file.js';
import { parseManifest } from '../../runtime-node/manifest/arrow-table.js';
import { columnsOf, encode, inFolder, ipc, nulls, numbers, ROWS, texts, thrown } from './fixtures.js';

const COLUMNS = columnsOf(ROWS);
const SIZES = ROWS.map((row) => row.objectSize);
const KEYS = ROWS.map((row) => row.key);
const ETAGS = ROWS.map((row) => row.etag);

function without(...names: string[]): Record<string, Vector> {
  return Object.fromEntries(Object.entries(COLUMNS).filter(([name]) => !names.includes(name)));
}

function changed<T>(values: readonly T[], row: number, value: T): T[] {
  return values.map((old, i) => (i === row ? value : old));
}

/** Passes for an LZ4 frame with the library, which then finds that it saves nothing. */
function lz4Frame(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([4, 34, 77, 24, 0x40, 0, 0]), bytes]);
}

function compressed(): Uint8Array {
  compressionRegistry.set(CompressionType.LZ4_FRAME, { encode: lz4Frame });
  const writer = new RecordBatchStreamWriter({ compressionType: CompressionType.LZ4_FRAME });
  writer.write(new Table(COLUMNS));
  return writer.finish().toUint8Array(true);
}

function withMetadata(metadata: [string, string][]): Uint8Array {
  const table = new Table(COLUMNS);
  return tableToIPC(new Table(new Schema(table.schema.fields, new Map(metadata)), table.batches), 'file');
}

const damagedUtf8 = (() => {
  const bytes = encode(ROWS, { kind: 'stream' });
  const at = Buffer.from(bytes).indexOf('é');
  bytes[at + 1] = 0x41;
  return bytes;
})();

interface Refusal {
  name: string;
  bytes: () => Uint8Array;
  says: RegExp;
  column?: string;
  row?: number;
}

const file = encode(ROWS);
const stream = encode(ROWS, { kind: 'stream' });
const REFUSALS: Refusal[] = [
  ...['key', 'offset', 'length', 'etag', 'object_size'].map((column) => ({
    name: `no column ${column}`,
    bytes: () => ipc(without(column)),
    says: /the column is missing/,
    column,
  })),
  {
    name: 'key of bytes',
    bytes: () =>
      ipc({
        ...COLUMNS,
        key: vectorFromArray(
          KEYS.map((key) => Buffer.from(key)),
          new Binary(),
        ),
      }),
    says: /its type is binary, wanted utf8/,
    column: 'key',
  },
  {
    name: 'key of nulls',
    bytes: () => ipc({ ...COLUMNS, key: nulls(ROWS.length) }),
    says: /its type is null, wanted utf8/,
    column: 'key',
  },
  {
    name: 'offset of text',
    bytes: () => ipc({ ...COLUMNS, offset: COLUMNS.key as Vector }),
    says: /its type is utf8, wanted uint64/,
    column: 'offset',
  },
  {
    name: 'length of floats',
    bytes: () => ipc({ ...COLUMNS, length: vectorFromArray(SIZES, new Float64()) }),
    says: /its type is float, wanted uint64/,
    column: 'length',
  },
  {
    name: 'etag of numbers',
    bytes: () => ipc({ ...COLUMNS, etag: numbers(SIZES) }),
    says: /its type is uint64, wanted utf8/,
    column: 'etag',
  },
  {
    name: 'label of floats',
    bytes: () => ipc({ ...COLUMNS, label: vectorFromArray(SIZES, new Float64()) }),
    says: /its type is float/,
    column: 'label',
  },
  {
    name: 'fields of text',
    bytes: () => ipc({ ...COLUMNS, fields: COLUMNS.key as Vector }),
    says: /its type is utf8, wanted list of struct/,
    column: 'fields',
  },
  {
    name: 'empty key',
    bytes: () => ipc({ ...COLUMNS, key: texts(changed(KEYS, 5, '')) }),
    says: /the key is empty/,
    column: 'key',
    row: 5,
  },
  {
    name: 'null key',
    bytes: () => ipc({ ...COLUMNS, key: texts(changed<string | null>(KEYS, 5, null)) }),
    says: /the key is null/,
    column: 'key',
    row: 5,
  },
  {
    name: 'null key in a dictionary',
    bytes: () => ipc({ ...COLUMNS, key: texts(changed<string | null>(KEYS, 8, null), 'dictionary of utf8') }),
    says: /the key is null/,
    column: 'key',
    row: 8,
  },
  {
    name: 'null offset',
    bytes: () =>
      ipc({
        ...COLUMNS,
        offset: numbers(
          changed<number | null>(
            ROWS.map(() => 0),
            2,
            null,
          ),
        ),
      }),
    says: /the value is null/,
    column: 'offset',
    row: 2,
  },
  {
    name: 'null object_size',
    bytes: () => ipc({ ...COLUMNS, object_size: numbers(changed<number | null>(SIZES, 8, null)) }),
    says: /the value is null/,
    column: 'object_size',
    row: 8,
  },
  {
    name: 'negative offset',
    bytes: () =>
      ipc({
        ...COLUMNS,
        offset: numbers(
          changed(
            ROWS.map(() => 0),
            3,
            -4,
          ),
          'int64',
        ),
      }),
    says: /-4 is negative/,
    column: 'offset',
    row: 3,
  },
  {
    name: 'negative 32-bit length',
    bytes: () =>
      ipc({
        ...COLUMNS,
        length: numbers(
          changed(
            ROWS.map(() => 0),
            3,
            -1,
          ),
          'int32',
        ),
      }),
    says: /-1 is negative/,
    column: 'length',
    row: 3,
  },
  {
    name: 'size of 2^53',
    bytes: () => ipc({ ...COLUMNS, object_size: numbers(changed(SIZES, 1, 2 ** 53)) }),
    says: /not a whole number up to 2\^53 - 1/,
    column: 'object_size',
    row: 1,
  },
  {
    name: 'range beyond the object',
    bytes: () => ipc({ ...COLUMNS, object_size: numbers(changed(SIZES, 6, 0)) }),
    says: /offset 0 and length 1 end beyond object_size 0 of "c\/～"/,
    column: 'length',
    row: 6,
  },
  {
    name: 'one key, two sizes',
    bytes: () => ipc({ ...COLUMNS, object_size: numbers(changed(SIZES, 3, 31)) }),
    says: /size 30 in the row before and 31 here/,
    column: 'object_size',
    row: 3,
  },
  {
    name: 'one key, two ETags',
    bytes: () => ipc({ ...COLUMNS, etag: texts(changed(ETAGS, 4, '"e9"')) }),
    says: /ETag "e2" in the row before and "e9" here/,
    column: 'etag',
    row: 4,
  },
  {
    name: 'one key, an ETag and none',
    bytes: () => ipc({ ...COLUMNS, etag: texts(changed(ETAGS, 4, null)) }),
    says: /ETag "e2" in the row before and null here/,
    column: 'etag',
    row: 4,
  },
  {
    name: 'sum above 2^53',
    bytes: () =>
      ipc({
        ...columnsOf(
          [1, 2].map((i) => ({
            key: `${i}`,
            offset: 0,
            length: 2 ** 53 - 1,
            etag: null,
            objectSize: 2 ** 53 - 1,
          })),
        ),
      }),
    says: /the sum over all rows/,
    column: 'length',
  },
  {
    name: 'text that is not UTF-8',
    bytes: () => damagedUtf8,
    says: /not valid UTF-8/,
    column: 'key',
    row: 1,
  },
  { name: 'no rows', bytes: () => encode([]), says: /it has no rows/ },
  { name: 'compressed', bytes: compressed, says: /compressed/ },
  {
    name: 'a later version',
    bytes: () => withMetadata([['os2g.manifest', '2']]),
    says: /manifest of version 2/,
  },
  { name: 'empty file', bytes: () => new Uint8Array(0), says: /the file is empty/ },
  {
    name: 'Parquet',
    bytes: () => Buffer.from('PAR1 and more'),
    says: /not an Arrow IPC file but a Parquet file/,
  },
  { name: 'JSON', bytes: () => Buffer.from('{"key": "a"}'), says: /not an Arrow IPC file but JSON/ },
  { name: 'text', bytes: () => Buffer.from('key,offset,length'), says: /not an Arrow IPC file$/ },
  {
    name: 'file cut in the middle',
    bytes: () => file.subarray(0, file.length / 2),
    says: /damaged: the file breaks off/,
  },
  {
    name: 'file cut by a byte',
    bytes: () => file.subarray(0, file.length - 1),
    says: /damaged: the file breaks off/,
  },
  { name: 'stream cut in the middle', bytes: () => stream.subarray(0, stream.length / 2), says: /damaged/ },
  {
    name: 'stream without its end mark',
    bytes: () => stream.subarray(0, stream.length - 8),
    says: /breaks off before its end mark/,
  },
  { name: 'only the magic', bytes: () => Buffer.from('ARROW1\0\0'), says: /damaged/ },
];

for (const { name, bytes, says, column, row } of REFUSALS) {
  test(`refused: ${name}`, async () => {
    const error = await thrown(() => parseManifest(bytes(), 'm.arrow'));
    assert.instance(error, ConfigError);
    if (!(error instanceof ConfigError)) return;
    assert.match(error.message, says);
    assert.match(error.message, /^m\.arrow/);
    assert.is(error.context.option, column);
    assert.is(error.context.row, row);
    assert.ok(error.mend.length > 0);
    assert.is(error.exitCode, 2);
  });
}

test('refused: a row is counted over all batches', async () => {
  const rows = ROWS.map((row, i) => (i === 6 ? { ...row, key: '' } : row));
  const error = await thrown(() => parseManifest(encode(rows, { batches: [4, 5] }), 'm.arrow'));
  assert.instance(error, ConfigError);
  assert.match(String(error), /m\.arrow, row 6, column key: the key is empty/);
});

test('refused: no such file, a folder', async () => {
  await inFolder(async (folder) => {
    await mkdir(join(folder, 'sub'));
    for (const [path, code] of [
      ['none.arrow', 'manifest_not_found'],
      ['sub', 'bad_manifest'],
    ] as const) {
      const error = await thrown(() => readManifest(join(folder, path)));
      assert.instance(error, ConfigError);
      if (error instanceof ConfigError) assert.is(error.code, code);
    }
  });
});

test.run();
