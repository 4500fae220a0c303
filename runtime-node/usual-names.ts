/** What loaders, samplers and tools of the field call an option that has another name here. */
interface UsualName {
  /** The option here, in the API's spelling. */
  readonly name: string;
  /** What is different about it. */
  readonly note?: string;
}

const TAIL = 'drop, the default, leaves the last short batch out; pad and partial keep it';
const WORKERS =
  'there are no worker processes to set: how many requests run and how far ahead they read is found out, within concurrency.max and window.bytes';

/** By the name without case, hyphens and underscores. */
const USUAL_NAMES: Readonly<Record<string, UsualName>> = {
  batch: { name: 'batchSamples' },
  batchsize: { name: 'batchSamples' },
  microbatchsize: { name: 'batchSamples' },
  numepochs: { name: 'epochs' },
  shuffleseed: { name: 'seed' },
  randomseed: { name: 'seed' },
  droplast: { name: 'tail', note: TAIL },
  numreplicas: { name: 'worldSize' },
  numshards: { name: 'worldSize' },
  shardid: { name: 'rank' },
  shardindex: { name: 'rank' },
  memorylimit: { name: 'memoryBytes' },
  cachelimit: { name: 'memoryBytes' },
  numworkers: { name: 'set', note: WORKERS },
  workers: { name: 'set', note: WORKERS },
  prefetchfactor: { name: 'set', note: WORKERS },
  prefetch: { name: 'set', note: WORKERS },
  concurrency: { name: 'set', note: WORKERS },
  endpointurl: { name: 'endpoint' },
  nosignrequest: { name: 'anonymous' },
  requestpayer: { name: 'requesterPays' },
  cacert: { name: 'caBundle' },
};

const bare = (name: string): string =>
  name
    .replace(/^OS2G_/, '')
    .replace(/[-_]/g, '')
    .toLowerCase();

/** `did you mean batch-samples?`, where `words` has what the field's `word` is called here; else undefined. */
export function usualName(word: string, words: readonly string[]): string | undefined {
  const usual = Object.hasOwn(USUAL_NAMES, bare(word)) ? USUAL_NAMES[bare(word)] : undefined;
  if (usual === undefined) return undefined;
  const wanted = bare(usual.name);
  const own = words.find((name) => bare(name) === wanted || `${bare(name)}bytes` === wanted);
  if (own === undefined) return undefined;
  return `did you mean ${own}?${usual.note === undefined ? '' : ` (${usual.note})`}`;
}
