import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where Debian puts servers, which is not on everybody's PATH. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];

/** The path of a command, or null where there is none. */
export function found(command: string): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...MORE_FOLDERS];
  const isThere = (path: string): boolean => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  if (command.includes('/')) return isThere(command) ? command : null;
  return folders.map((folder) => join(folder, command)).find(isThere) ?? null;
}

/**
 * Runs a command to its end.
 * @returns what it printed, both streams
 * @throws Error with that text when it fails
 */
export function output(command: string, args: readonly string[], env = process.env): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    const keep = (chunk: string): void => {
      text += chunk;
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(text);
      else reject(new Error(`${command} ended with ${code}: ${text.trim()}`));
    });
  });
}
