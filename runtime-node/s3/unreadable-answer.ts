/** A listing's answer that is none: the body was empty, cut off, damaged, or a document of another kind. */
export class NotAListing extends Error {
  /** As the SDK puts an answer beside its errors. */
  readonly $response: { statusCode: number; headers: Record<string, string>; body: string };
  readonly $metadata: { httpStatusCode: number };

  constructor(statusCode: number, headers: Record<string, string>, body: string, cause: unknown) {
    super(`the body is no ListBucketResult: ${cause instanceof Error ? cause.message : cause}`, { cause });
    this.$response = { statusCode, headers, body };
    this.$metadata = { httpStatusCode: statusCode };
  }
}

/** Whether an answer's body could not be read; the SDK's message is then about its own fields, not the store's words. */
export function isUnreadable(cause: unknown): boolean {
  if (cause instanceof NotAListing) return true;
  return cause instanceof Error && cause.message.includes('Deserialization error');
}
