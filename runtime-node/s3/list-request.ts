import { buffer } from 'node:stream/consumers';
import { ListObjectsV2Command, type ListObjectsV2CommandInput, type S3Client } from '@aws-sdk/client-s3';
import { type ListPage, parseListPage } from './list-page.js';
import { isSuccess } from './sdk-failure.js';
import { NotAListing } from './unreadable-answer.js';

/** What the SDK gets to read in place of a body that we read ourselves. */
const NOTHING = '<ListBucketResult/>';
/** 1,000 keys of 1,024 bytes, each byte encoded as three, come to 4 MB. */
const MOST_BYTES = 32 * 2 ** 20;

interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body: AsyncIterable<Uint8Array>;
}

/**
 * One request for a page: sent and signed by the SDK, which also reads the errors; a success is read by `parseListPage`.
 * @throws NotAListing, or what the SDK throws
 */
export async function requestPage(
  client: S3Client,
  input: ListObjectsV2CommandInput,
  abortSignal: AbortSignal | undefined,
): Promise<ListPage> {
  const command = new ListObjectsV2Command(input);
  let page: ListPage | null = null;
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const answer = result.response as Answer;
      if (isSuccess(answer.statusCode)) {
        page = await readPage(answer);
        result.response = { ...answer, body: Buffer.from(NOTHING) };
      }
      return result;
    },
    { step: 'deserialize', priority: 'low' },
  );
  await client.send(command, { abortSignal });
  if (page === null) throw new Error('the SDK took for a success what is none');
  return page;
}

async function readPage({ statusCode, headers, body }: Answer): Promise<ListPage> {
  const bytes = await buffer(upTo(MOST_BYTES, body));
  try {
    return parseListPage(bytes);
  } catch (cause) {
    throw new NotAListing(statusCode, headers, bytes.toString(), cause);
  }
}

/** Cut off there: it is no listing then. */
async function* upTo(most: number, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of body) {
    yield piece;
    bytes += piece.length;
    if (bytes > most) return;
  }
}
