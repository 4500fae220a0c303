import type { ListedObject } from '../../s3/listing.js';
import type { RangeReader } from '../format.js';

const REQUESTS_AT_A_TIME = 32;
/** Answers that are kept: lists name an object's samples mostly one after the other. */
const MOST_KEPT = 100_000;

/** Sizes and ETags of objects that a list names: from the listing where they are in it, else by one HEAD request each. */
export class ObjectVersions {
  private readonly asked = new Map<string, ListedObject>();

  constructor(private readonly listed: ReadonlyMap<string, ListedObject>) {}

  /** What is known without a request. */
  known(key: string): ListedObject | undefined {
    return this.listed.get(key) ?? this.asked.get(key);
  }

  /** Makes objects known, `REQUESTS_AT_A_TIME` together. @throws StoreError that names the key */
  async ask(keys: readonly string[], reader: RangeReader, signal?: AbortSignal): Promise<void> {
    const unknown = [...new Set(keys)].filter((key) => this.known(key) === undefined);
    if (this.asked.size + unknown.length > MOST_KEPT) this.forget(keys);
    for (let i = 0; i < unknown.length; i += REQUESTS_AT_A_TIME) {
      const some = unknown.slice(i, i + REQUESTS_AT_A_TIME);
      for (const object of await Promise.all(some.map((key) => reader.stat(key, signal)))) {
        this.asked.set(object.key, object);
      }
    }
  }

  private forget(but: readonly string[]): void {
    const kept = new Set(but);
    for (const key of this.asked.keys()) if (!kept.has(key)) this.asked.delete(key);
  }
}
