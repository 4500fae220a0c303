import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError, say } from './fail.js';

const PATIENCE_MS = 10 * 60_000;

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** True when the holder of the lock is gone. A lock whose pid is not yet written belongs to someone who is just taking it. */
function abandoned(folder) {
  try {
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    return pid > 0 && !alive(pid);
  } catch {
    return false;
  }
}

/**
 * Runs `work` while no other process of this checkout does. A folder is the lock: making one is atomic everywhere.
 * @template T @param {string} folder @param {() => Promise<T>} work @returns {Promise<T>}
 */
export async function withLock(folder, work) {
  mkdirSync(dirname(folder), { recursive: true });
  const since = Date.now();
  let said = false;
  for (;;) {
    try {
      mkdirSync(folder);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (abandoned(folder)) {
      rmSync(folder, { recursive: true, force: true });
      continue;
    }
    if (Date.now() - since > PATIENCE_MS) {
      throw new SetupError(
        `another set-up has held ${folder} for ten minutes`,
        'wait for it or end it; if there is none, remove that folder',
      );
    }
    if (!said) say('another set-up is running in this checkout; waiting for it');
    said = true;
    await sleep(200);
  }
  const release = () => rmSync(folder, { recursive: true, force: true });
  const onSignal = (signal) => {
    release();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  writeFileSync(join(folder, 'pid'), String(process.pid));
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  try {
    return await work();
  } finally {
    release();
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}
