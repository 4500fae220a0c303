const SWITCH = 'AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED';

/**
 * Makes a client of the SDK without its notice on Node versions that later releases of it will not support: ours is pinned, so
 * that the notice is for our maintainers. The switch is the SDK's own and is read while a client is made; outside of that the
 * environment is as the program set it. (A program that shares this very copy of the SDK does not see the notice either: the SDK
 * gives it once a process.)
 */
export function withoutVersionWarning<T>(make: () => T): T {
  const before = process.env[SWITCH];
  process.env[SWITCH] = 'true';
  try {
    return make();
  } finally {
    if (before === undefined) delete process.env[SWITCH];
    else process.env[SWITCH] = before;
  }
}
