import { Writable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checksText } from '../../runtime-node/cli/commands/doctor.js';
import { batchesAhead, stallText } from '../../runtime-node/cli/feed/report.js';
import { errorReport } from '../../runtime-node/cli/output/error-report.js';
import { createLogger } from '../../runtime-node/cli/output/log.js';
import * as numbers from '../../runtime-node/cli/output/numbers.js';
import { printable, printableLines } from '../../runtime-node/cli/output/printable.js';
import { StandardError } from '../../runtime-node/cli/output/progress.js';
import { table } from '../../runtime-node/cli/output/table.js';
import { colorsFor } from '../../runtime-node/cli/output/terminal.js';
import { StoreError } from '../../runtime-node/errors.js';
import { STALL_NAMES, type StallName } from '../../runtime-node/feed/stats.js';
import { noteLines } from '../../runtime-node/manifest/listing-notes.js';
import { nearest } from '../../runtime-node/nearest.js';

const PLAIN = colorsFor({ write: () => {} }, {});

test('numbers for people', () => {
  assert.is(numbers.formatCount(1234567.4), '1,234,567');
  assert.equal([0, 1.2345, 99.94, 12345.6, Number.NaN].map(numbers.formatFigure), [
    '0',
    '1.23',
    '99.9',
    '12,346',
    '-',
  ]);
  assert.equal([0, 999, 1500, 2.5e9].map(numbers.formatDecimalBytes), ['0 B', '999 B', '1.5 KB', '2.5 GB']);
  assert.equal([512, 64 * 2 ** 20, 1.5 * 2 ** 30].map(numbers.formatMemory), ['512 B', '64 MiB', '1.5 GiB']);
  assert.equal([0.5, 0, Number.NaN, 12.5].map(numbers.formatShare), ['50.0 %', '0.0 %', '-', '1,250.0 %']);
  assert.equal([0.5, -0.04, -0.0001, 291.436, Number.NaN].map(numbers.formatChange), [
    '+50.0 %',
    '-4.0 %',
    '0.0 %',
    '+29,143.6 %',
    '-',
  ]);
  assert.equal([0.01234, 12.34, 75, 3700].map(numbers.formatSeconds), [
    '0.012 s',
    '12.3 s',
    '1 min 15 s',
    '1 h 2 min',
  ]);
});

test('tables: figures to the right, text to the left, no blanks at the end', () => {
  const rows = [
    ['', 'sync', 'os2g'],
    ['samples/s', '79', '1,234'],
  ];
  assert.is(table(rows), '           sync   os2g\nsamples/s    79  1,234');
  assert.is(table(rows, 'text'), '           sync  os2g\nsamples/s  79    1,234');
});

test('near words', () => {
  const words = ['batch-samples', 'rank', 'seed', 'tail', 'trace'];
  assert.equal(nearest('batch-sample', words), ['batch-samples']);
  assert.equal(nearest('trail', words), ['tail', 'trace']);
  assert.equal(nearest('zzzzzzzz', words), []);
});

test('batches that a run has before it', () => {
  const cases: [number, number, string, number, number, number, number][] = [
    // samples, global batch, tail, epochs, epoch, batch -> batches
    [100, 10, 'drop', 1, 0, 0, 10],
    [105, 10, 'drop', 2, 0, 0, 20],
    [105, 10, 'pad', 2, 0, 0, 22],
    [105, 10, 'partial', 2, 1, 4, 7],
    [5, 10, 'drop', 1, 0, 0, 0],
    [100, 10, 'drop', 1, 1, 0, 0],
  ];
  for (const [samples, globalBatchSamples, tail, epochs, epoch, batch, wanted] of cases) {
    assert.is(batchesAhead({ samples, globalBatchSamples, tail, epochs, epoch, batch }), wanted);
  }
});

test('stalls: largest first, nothing that is nothing', () => {
  const stalls = Object.fromEntries(STALL_NAMES.map((name) => [name, 0])) as Record<StallName, number>;
  assert.is(stallText(stalls), 'none');
  assert.is(stallText({ ...stalls, store: 1.5, start: 2, network: 0.0001 }), 'start 2 s, store 1.5 s');
});

test('an error for people and as a document', () => {
  const error = new StoreError('not_found', 'a/b is not there', 'index again', {
    key: 'a/b',
    status: 404,
    s3Code: 'NoSuchKey',
    cause: new Error('hidden'),
  });
  const report = errorReport(error, false);
  assert.is(report.exitCode, 1);
  assert.is(
    report.text,
    'error: a/b is not there\n  HTTP status: 404\n  S3 code: NoSuchKey\n  to mend it: index again',
  );
  assert.equal(report.document, {
    schema: 'os2g.error/1',
    error: {
      code: 'not_found',
      message: 'a/b is not there',
      mend: 'index again',
      key: 'a/b',
      status: 404,
      s3Code: 'NoSuchKey',
    },
  });
  assert.match(errorReport(error, true).text, /caused by: Error: hidden/);
  assert.is(errorReport('text', false).document.error && errorReport('text', false).exitCode, 1);
});

test('log lines hold no credentials, in either form', () => {
  for (const format of ['text', 'json'] as const) {
    const lines: string[] = [];
    const log = createLogger({ level: 'info', format, colors: PLAIN, write: (line) => lines.push(line) });
    log.info(
      {
        credentials: { secretAccessKey: 's3cr3t' },
        headers: { authorization: 's3cr3t' },
        a: { b: { sessionToken: 's3cr3t' } },
      },
      'hello',
    );
    log.debug('below the level');
    assert.is(lines.length, 1);
    assert.match(lines[0] ?? '', /hello/);
    assert.not.match(lines[0] ?? '', /s3cr3t/);
  }
});

test('what a terminal would obey is shown as an escape', () => {
  const cases: [string, string][] = [
    ['plain é 漢 🙂 \\', 'plain é 漢 🙂 \\'],
    ['\x1b]0;title\x07\x1b[31m', '\\x1b]0;title\\x07\\x1b[31m'],
    ['a\nb\r\tc\x00\x7f', 'a\\nb\\r\\tc\\x00\\x7f'],
    ['\u009b31m \u202etxt.exe\u2028', '\\x9b31m \\u202etxt.exe\\u2028'],
  ];
  for (const [text, shown] of cases) assert.is(printable(text), shown);
  assert.is(printableLines('a\n\x1bb'), 'a\n\\x1bb');
});

test('keys and answers with control characters: escaped for people, exact in JSON', () => {
  const key = 'a\x1b[2J\n\u009bb';
  const shown = 'a\\x1b[2J\\n\\x9bb';
  const error = new StoreError('lost', `reading ${key} failed`, `look at ${key}`, {
    key: `${key}2`,
    cause: new Error(key),
  });
  const report = errorReport(error, true);
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    format: 'text',
    colors: PLAIN,
    write: (line) => lines.push(line),
  });
  log.warn({ key, inner: { key } }, `skipped ${key}`);
  const check = { name: 'listing', status: 'fail', detail: key, mend: key } as const;
  for (const text of [
    report.text,
    lines.join(''),
    table([[key, key]]),
    checksText([check], { NO_COLOR: '1' }),
  ]) {
    assert.ok(text.includes(shown), text);
    assert.not.match(text.replaceAll('\n', ''), /\p{Cc}/u);
  }
  assert.is((report.document.error as { key: string }).key, `${key}2`);
  const exact: string[] = [];
  createLogger({ level: 'info', format: 'json', colors: PLAIN, write: (line) => exact.push(line) }).warn(
    { key },
    key,
  );
  const { msg, key: logged } = JSON.parse(exact[0] ?? '');
  assert.equal([msg, logged], [key, key]);
});

test('colours: a terminal has them, NO_COLOR and a pipe do not', () => {
  const write = () => {};
  const cases: [boolean, Record<string, string>, boolean][] = [
    [true, {}, true],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, {}, false],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ];
  for (const [isTTY, env, wanted] of cases)
    assert.is(colorsFor({ isTTY, write }, env).isColorSupported, wanted);
});

/** A terminal that keeps what is written to it. */
function terminal(isTTY: boolean) {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  Object.assign(stream, { isTTY, columns: 200 });
  return { sink: stream as unknown as NodeJS.WritableStream & { isTTY: boolean }, text: () => text };
}

test('progress: where it appears', () => {
  const cases: [boolean, 'auto' | 'always' | 'never', boolean][] = [
    [true, 'auto', true],
    [true, 'always', true],
    [true, 'never', false],
    [false, 'auto', false],
    [false, 'always', true],
    [false, 'never', false],
  ];
  for (const [isTTY, mode, shown] of cases) {
    const { sink, text } = terminal(isTTY);
    const progress = new StandardError(sink, mode, PLAIN).progress('feeding');
    progress.update({ done: 5, total: 10, detail: '7 samples/s' });
    progress.stop();
    assert.is(
      /feeding .*50%.*7 samples\/s/.test(text()),
      shown,
      `${isTTY} ${mode} ${JSON.stringify(text())}`,
    );
  }
});

test('log lines pass above a progress bar, and none is lost when it stops', () => {
  const { sink, text } = terminal(true);
  const stderr = new StandardError(sink, 'auto', PLAIN);
  const progress = stderr.progress('feeding');
  progress.update({ done: 1, total: 10, detail: '' });
  stderr.line('first');
  stderr.line('second');
  progress.stop();
  stderr.line('third');
  for (const line of ['first', 'second', 'third']) assert.ok(text().includes(`${line}\n`), line);
});

test('a progress that never began draws nothing', () => {
  const { sink, text } = terminal(true);
  new StandardError(sink, 'auto', PLAIN).progress('listing').stop();
  assert.is(text(), '');
});

test('notes of a listing, in sentences', () => {
  const none = { count: 0, examples: [] };
  assert.equal(
    noteLines({ pages: 1, markers: none, empty: none, archived: none, outsideFolder: none }, 'train'),
    [],
  );
  const lines = noteLines(
    {
      pages: 1,
      markers: { count: 1, examples: ['train/'] },
      empty: { count: 1, examples: ['train/0'] },
      archived: { count: 5, examples: ['a', 'b', 'c'] },
      outsideFolder: { count: 2, examples: ['train2/1', 'train2/2'] },
    },
    'train',
  );
  assert.match(lines[0] ?? '', /^1 folder marker .*"train\/"$/);
  assert.match(lines[1] ?? '', /^1 object of zero bytes .*"train\/0"$/);
  assert.match(lines[2] ?? '', /^5 objects in an archive .*"a", "b", "c", \.\.\.$/);
  assert.match(lines[3] ?? '', /"train" also matches 2 keys .*"train\/"/);
});

test.run();
