import { loadNative } from '../../runtime-node/native/load.js';
import type { NativeModule } from '../../runtime-node/native/module.js';

/** The module under test; a suite of this room runs only where it is built. */
export function nativeModule(): NativeModule {
  const native = loadNative();
  if (native.module === null) throw new Error(`no native module: ${native.why}`);
  return native.module;
}
