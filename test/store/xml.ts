const HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

const NAMED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text for an element. Control characters become numeric references, as S3 sends them (also those XML 1.0 forbids). */
export function escapeXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be escaped
  if (!/[&<>"\u0000-\u001f\u007f]/.test(text)) return text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be escaped
  return text.replace(/[&<>"\u0000-\u001f\u007f]/g, (c) => NAMED[c] ?? `&#x${c.charCodeAt(0).toString(16)};`);
}

export function element(name: string, text: string | number | boolean): string {
  return `<${name}>${typeof text === 'string' ? escapeXml(text) : text}</${name}>`;
}

/** A whole document; `content` is XML already. S3's error documents carry no namespace, its results do. */
export function xmlDocument(root: string, content: string, namespace = true): string {
  return `${HEADER}<${root}${namespace ? NAMESPACE : ''}>${content}</${root}>`;
}
