/** What an S3 error answer says in its XML body; every field null where it says nothing. */
export interface ErrorDocument {
  code: string | null;
  message: string | null;
  requestId: string | null;
  region: string | null;
}

/**
 * Reads the few fields that matter out of the first bytes of an error body: it may be cut off, or no XML at all.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
export function readErrorDocument(body: string): ErrorDocument {
  return {
    code: element(body, 'Code'),
    message: element(body, 'Message'),
    requestId: element(body, 'RequestId'),
    region: element(body, 'Region'),
  };
}

function element(body: string, name: string): string | null {
  const match = new RegExp(`<${name}>([^<]{0,1024})</${name}>`).exec(body);
  return match?.[1] ? match[1].trim() : null;
}

const SHOWN = 200;

/**
 * The first 200 characters, with everything that could upset a terminal or a log replaced by a dot. What is cut off is cut
 * after the last whole tag, where there is one in the second half, and ends in an ellipsis.
 */
export function printableStart(body: string): string {
  if (body.length <= SHOWN) return printable(body);
  const tagEnd = body.lastIndexOf('>', SHOWN - 1) + 1;
  return `${printable(body.slice(0, tagEnd > SHOWN / 2 ? tagEnd : SHOWN))}...`;
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '.');
}
