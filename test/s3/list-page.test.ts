// What a document of a listing is taken for. Each row was lost, changed or taken by a lenient reading.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseListPage } from '../../runtime-node/s3/list-page.js';

const page = (inside: string, declaration = '<?xml version="1.0" encoding="UTF-8"?>'): string =>
  `${declaration}<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated>${inside}</ListBucketResult>`;
const entry = (key: string, more = ''): string =>
  `<Contents><Key>${key}</Key><Size>1</Size>${more}</Contents>`;

const KEYS: [name: string, document: string, keys: string[]][] = [
  ['a character above U+FFFF as a reference', page(entry('a&#x1F600;')), ['a\u{1f600}']],
  ['a control character as a reference', page(entry('a&#x1;b')), ['a\u0001b']],
  [
    'characters that XML 1.1 takes for ends of lines',
    page(entry('a\u0085b\u2028c\u007f')),
    ['a\u0085b\u2028c\u007f'],
  ],
  ['spaces at both ends', page(entry(' a ')), [' a ']],
  ['quotes, signs and a CDATA section', page(entry('&lt;&amp;&quot;<![CDATA[<b>]]>')), ['<&"<b>']],
  [
    'attributes on a field',
    page('<Contents><Key xml:space="preserve">a</Key><Size>1</Size></Contents>'),
    ['a'],
  ],
  [
    'several checksum algorithms',
    page(entry('a', '<ChecksumAlgorithm>A</ChecksumAlgorithm>'.repeat(2))),
    ['a'],
  ],
  ['no declaration', page(entry('a'), ''), ['a']],
  [
    'an owner with fields of the same names',
    page(entry('a', '<Owner><Key>b</Key><Size>2</Size></Owner>')),
    ['a'],
  ],
];
for (const [name, document, keys] of KEYS) {
  test(`read: ${name}`, () => {
    const { entries } = parseListPage(Buffer.from(document));
    assert.equal(
      entries.map(({ key }) => key),
      keys,
    );
    assert.is(entries[0]?.sizeBytes, 1);
  });
}

const REFUSED: [name: string, document: string | Buffer][] = [
  ['an entity that is not known', page(entry('a&nbsp;b'))],
  ['a bare ampersand', page(entry('a&b'))],
  ['half a surrogate pair as a reference', page(entry('a&#xD800;'))],
  ['bytes that are no UTF-8', Buffer.from(page(entry('caf\u00e9')), 'latin1')],
  ['another encoding, as it says', page(entry('a'), '<?xml version="1.0" encoding="ISO-8859-1"?>')],
  ['a second root', page(entry('a')) + page(entry('b'))],
  ['text behind the root', `${page(entry('a'))}junk`],
  ['two keys in one entry', page(entry('a', '<Key>b</Key>'))],
  ['two sizes in one entry', page(entry('a', '<Size>2</Size>'))],
  ['an element inside a key', page(entry('a<b/>'))],
  ['two marks of the end', page(`${entry('a')}<IsTruncated>true</IsTruncated>`)],
  ['no mark of the end', page(entry('a')).replace('<IsTruncated>false</IsTruncated>', '')],
  ['a mark that says neither', page(entry('a')).replace('false', 'maybe')],
  ['another document', '<Error><Code>SlowDown</Code></Error>'],
  ['nothing', ''],
];
for (const [name, document] of REFUSED) {
  test(`refused: ${name}`, () => {
    assert.throws(() => parseListPage(Buffer.from(document)));
  });
}

const SIZES: [text: string, sizeBytes: number | null][] = [
  ['0', 0],
  ['9007199254740991', 2 ** 53 - 1],
  ['9007199254740993', null],
  ['-1', null],
  ['1e3', null],
  ['0x10', null],
  ['1.0', null],
  ['', null],
];
test('sizes are whole numbers, or none', () => {
  for (const [text, sizeBytes] of SIZES) {
    const { entries } = parseListPage(
      Buffer.from(page(`<Contents><Key>a</Key><Size>${text}</Size></Contents>`)),
    );
    assert.is(entries[0]?.sizeBytes, sizeBytes, text);
  }
});

test.run();
