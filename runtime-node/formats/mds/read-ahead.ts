/** Requests of one shard that are under way at a time, and their bytes: with the shards side by side, these bound the memory. */
const MOST_READS = 16;
const MOST_BYTES = 16 * 2 ** 20;

/**
 * Starts reads ahead of their use and hands them over in order.
 * @param bytesOf what a read takes in memory until it is used
 */
export async function* readAhead<Read>(
  reads: Iterable<Read>,
  bytesOf: (read: Read) => number,
  start: (read: Read) => Promise<Uint8Array>,
): AsyncGenerator<{ read: Read; bytes: Uint8Array }> {
  const iterator = reads[Symbol.iterator]();
  const started: { read: Read; answer: Promise<Uint8Array> }[] = [];
  let [bytesAhead, isDone] = [0, false];
  const fill = () => {
    while (!isDone && (started.length === 0 || (started.length < MOST_READS && bytesAhead < MOST_BYTES))) {
      const { value, done } = iterator.next();
      isDone = done === true;
      if (done === true) return;
      bytesAhead += bytesOf(value);
      const answer = start(value);
      // Its failure is told when its turn comes; until then nobody waits for it.
      answer.catch(() => {});
      started.push({ read: value, answer });
    }
  };
  for (fill(); started.length > 0; fill()) {
    const { read, answer } = started.shift()!;
    yield { read, bytes: await answer };
    bytesAhead -= bytesOf(read);
  }
}
