// The report as a reader sees it: opened in Chromium, from a file.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { reportPage } from '../../simulator/report/page.js';
import { findChromium, openPage } from './report-browser.js';
import { recorded, SMALL } from './report-kit.js';

const chromium = findChromium();
const folder = mkdtempSync(join(tmpdir(), 'os2g-report-'));
test.after(() => rmSync(folder, { recursive: true }));

function page(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return pathToFileURL(file).href;
}

if (!chromium) {
  process.stdout.write('# skip: no Chromium on the PATH (apt-get install chromium, or OS2G_CHROMIUM=FILE)\n');
  test.skip('the report in a browser', () => {});
} else {
  test('all charts are drawn, and the console stays empty', async () => {
    const { result, records } = await recorded(SMALL);
    const url = page('report.html', reportPage(result, records));
    for (const more of [
      [],
      ['--force-dark-mode', '--blink-settings=preferredColorScheme=0'],
      ['--window-size=400,800'],
    ]) {
      const { dom, console } = await openPage(chromium, url, more);
      assert.equal(console, [], more.join(' '));
      assert.match(dom, /<html[^>]* data-drawn="5"/);
      const canvases = [...dom.matchAll(/<canvas width="(\d+)" height="(\d+)"/g)];
      assert.is(canvases.length, 5);
      assert.ok(canvases.every(([, width, height]) => Number(width) > 200 && Number(height) > 200));
      assert.is((dom.match(/class="u-legend/g) ?? []).length, 5);
      assert.match(dom, /<title>a &lt;b&gt;"small"/);
    }
  });

  test('one pipeline without a window has no chart of it', async () => {
    const { result, records } = await recorded({ ...SMALL, pipelines: ['s3fs'] });
    const { dom, console } = await openPage(chromium, page('one.html', reportPage(result, records)));
    assert.equal(console, []);
    assert.match(dom, /data-drawn="4"/);
  });

  test('what this test would see of a page with an error', async () => {
    const url = page('broken.html', '<!doctype html><script>throw new Error("broken")</script>');
    const { console } = await openPage(chromium, url);
    assert.is(console.length, 1);
    assert.match(console[0]!, /broken/);
  });
}

test.run();
