import { ConfigError } from '../errors.js';
import { loadNative } from '../native/load.js';
import type { NativeModule } from '../native/module.js';
import { option, words } from '../wording.js';

/** The engine of a feed, and why it is that one, as the feed's result says it. */
export type EngineChoice =
  | { readonly name: 'native'; readonly reason: string; readonly native: NativeModule }
  | { readonly name: 'portable'; readonly reason: string };

/** What a feed needs that not every engine has. */
export interface EngineNeeds {
  /** Mutual TLS: the store is shown a certificate. */
  readonly clientCertificate: boolean;
}

/**
 * Picks the engine: by name it is had, or it is an error; `auto` is the native one where it is there and has what is needed.
 * @throws ConfigError `engine_unavailable`
 */
export function chooseEngine(asked: 'auto' | 'portable' | 'native', needs: EngineNeeds): EngineChoice {
  if (asked === 'portable') return { name: 'portable', reason: 'asked for' };
  if (needs.clientCertificate) {
    const why = 'the native engine shows no client certificate to a store';
    if (asked === 'auto') return { name: 'portable', reason: why };
    throw new ConfigError(
      'engine_unavailable',
      words`${why}, and ${option('s3.clientCert')} is given`,
      words`use ${option('engine', 'portable')} or auto`,
      { option: 'engine' },
    );
  }
  const loaded = loadNative();
  if (loaded.module !== null) {
    return {
      name: 'native',
      reason: asked === 'native' ? 'asked for' : 'the native module is there',
      native: loaded.module,
    };
  }
  if (asked === 'auto') return { name: 'portable', reason: `no native engine: ${loaded.why}` };
  throw new ConfigError(
    'engine_unavailable',
    `there is no native engine: ${loaded.why}`,
    words`${loaded.mend}; or use ${option('engine', 'portable')} or auto`,
    { option: 'engine' },
  );
}
