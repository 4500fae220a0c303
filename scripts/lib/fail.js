/** A set-up step that failed for a reason its reader can act on: what happened, and what to do. */
export class SetupError extends Error {
  /** @param {string} message @param {string} mend @param {string} [output] tail of the failed command's output */
  constructor(message, mend, output = '') {
    super(message);
    this.name = 'SetupError';
    this.mend = mend;
    this.output = output;
  }
}

/** @param {string} text */
export function say(text) {
  process.stderr.write(`setup: ${text}\n`);
}

/** Runs a script's main function; a SetupError ends it with its words, anything else with its stack. */
export async function main(run) {
  try {
    await run();
  } catch (error) {
    if (error instanceof SetupError) {
      if (error.output) process.stderr.write(`${error.output.trimEnd()}\n`);
      process.stderr.write(`error: ${error.message}\n  to mend it: ${error.mend}\n`);
    } else {
      process.stderr.write(`${error?.stack ?? error}\n`);
    }
    process.exitCode = 1;
  }
}
