import { spawn } from 'node:child_process';
import { root } from './root.js';

const KEPT_OUTPUT = 20_000;

/**
 * Runs a command to its end and keeps the tail of what it printed.
 * @param {string} command @param {string[]} args @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<{code: number | null, output: string, missing: boolean}>} `missing`: there is no such command
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    const keep = (chunk) => {
      output = (output + chunk).slice(-KEPT_OUTPUT);
    };
    child.stdout?.setEncoding('utf8').on('data', keep);
    child.stderr?.setEncoding('utf8').on('data', keep);
    child.on('error', (error) =>
      resolve({ code: null, output: `${output}${error.message}\n`, missing: error.code === 'ENOENT' }),
    );
    child.on('close', (code) => resolve({ code, output, missing: false }));
  });
}
