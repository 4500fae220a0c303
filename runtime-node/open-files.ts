/** What a process keeps open beside its connections: outputs, a manifest, timers and wake-ups of both engines. */
const OTHER_FILES = 64;

export type FileLimit = number | 'unlimited' | null;

/** Soft limit of open files from Node's own report; null where the platform has none. */
export function openFilesLimit(): FileLimit {
  const { report } = process;
  // Without this the report asks for the names of all peers.
  (report as { excludeNetwork?: boolean }).excludeNetwork = true;
  const { userLimits } = report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  return userLimits?.open_files?.soft ?? null;
}

/** What to say where so many connections may use up all files that may be open; null where they cannot. */
export function fileLimitWarning(connections: number, limit: FileLimit): string | null {
  if (typeof limit !== 'number' || connections + OTHER_FILES <= limit) return null;
  return `this process may have ${limit} files open, and concurrency.max is ${connections}: connections and outputs may fail; raise the limit (ulimit -n ${connections + OTHER_FILES}), or lower concurrency.max to ${Math.max(1, limit - OTHER_FILES)}`;
}
