/** A run's hash where there is no core: 64 bits over (time, worker, bytes) of every answer, in order. */
export class RunDigest {
  #lo = 0x6f733267;
  #hi = 0x73696d31;

  add(nowNs: number, who: number, bytes: number): void {
    const high = Math.floor(nowNs / 4294967296);
    let lo = this.#lo ^ (nowNs - high * 4294967296);
    lo = Math.imul(lo ^ (lo >>> 16), 0x85ebca6b) ^ who;
    let hi = this.#hi ^ high ^ lo;
    hi = Math.imul(hi ^ (hi >>> 15), 0x2c1b3c6d) ^ (bytes % 4294967296);
    this.#lo = Math.imul(lo ^ (lo >>> 13) ^ hi, 0xc2b2ae35);
    this.#hi = Math.imul(hi ^ (hi >>> 12), 0x297a2d39);
  }

  get value(): { lo: number; hi: number } {
    return { lo: this.#lo >>> 0, hi: this.#hi >>> 0 };
  }
}
