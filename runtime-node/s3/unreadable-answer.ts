import type { ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';

/** A listing's answer that the SDK read as an empty page: the body was empty, or a document of another kind. */
export class NotAListing extends Error {
  readonly $metadata: unknown;

  constructor({ $metadata }: ListObjectsV2CommandOutput) {
    super('the body is no ListBucketResult');
    this.$metadata = $metadata;
  }
}

/**
 * IsTruncated stands in every listing. Where it is missing, what came is not the page, and to take it for the last one would
 * lose all keys after it.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html#API_ListObjectsV2_ResponseElements
 *
 * @throws NotAListing
 */
export function checkedPage(page: ListObjectsV2CommandOutput): ListObjectsV2CommandOutput {
  if (page.IsTruncated === undefined) throw new NotAListing(page);
  return page;
}

/** Whether the SDK could not read the answer's body; its message is then about its own fields, not the store's words. */
export function isUnreadable(cause: unknown): boolean {
  if (cause instanceof NotAListing) return true;
  return cause instanceof Error && cause.message.includes('Deserialization error');
}
