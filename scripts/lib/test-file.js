import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from './root.js';

const KEPT_OUTPUT = 400_000;
const GOODBYE_MS = 3_000;

function groupAlive(pid) {
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}

/** Waits a moment for what the file started to end too; what then still runs is ended and told. */
async function endGroup(pid) {
  for (const until = Date.now() + GOODBYE_MS; Date.now() < until; await sleep(50)) {
    if (!groupAlive(pid)) return false;
  }
  killGroup(pid);
  return true;
}

/** Process groups that run now, so that an interrupted run leaves none. */
const running = new Set();
export function killAll() {
  for (const pid of running) killGroup(pid);
}

/**
 * Runs one test file in a process group of its own.
 * @param {string} file @param {NodeJS.ProcessEnv} env @param {number} timeoutMs
 */
export function runTestFile(file, env, timeoutMs) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [file], {
      cwd: root,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const pid = child.pid ?? 0;
    running.add(pid);
    let output = '';
    let timedOut = false;
    const keep = (chunk) => {
      output = (output + chunk).slice(-KEPT_OUTPUT);
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(pid);
    }, timeoutMs);
    child.on('exit', async (code, signal) => {
      clearTimeout(timer);
      const leftBehind = await endGroup(pid);
      running.delete(pid);
      // A grandchild that held the pipes is gone now, so they close.
      const ended = () => resolve({ output, code, signal, timedOut, leftBehind: leftBehind && !timedOut });
      if (child.stdout.closed && child.stderr.closed) ended();
      else child.once('close', ended);
    });
  });
}
