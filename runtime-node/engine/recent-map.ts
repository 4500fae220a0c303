/** A map that keeps what was set last, at most so many entries: for what nobody says is no longer needed. */
export class RecentMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#most) this.delete(this.keys().next().value!);
    return this;
  }
}

/**
 * Of requests that end in a failure: twice what is in flight at most. One that is given up is asked for at once, long before so many
 * others have failed.
 */
export const KEPT_REQUESTS = 32_768;
