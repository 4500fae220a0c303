/**
 * What one test file printed, as numbers. uvu swallows an exception of a `before` hook and still exits with 0, so the
 * failures are what did not pass, never the exit code alone.
 * @typedef {{passed: number, failed: number, skipped: number, reasons: string[], problem: string | null}} FileResult
 */

const number = (output, name) => {
  const match = new RegExp(`^\\s*${name}:\\s+(\\d+)\\s*$`, 'm').exec(output);
  return match ? Number(match[1]) : null;
};

/**
 * @param {string} output @param {{code: number | null, signal: string | null, timedOut: boolean, leftBehind: boolean}} end
 * @returns {FileResult}
 */
export function readReport(output, end) {
  const [total, passed, skipped] = ['Total', 'Passed', 'Skipped'].map((name) => number(output, name));
  const reasons = [...output.matchAll(/^# skip:? (.+)$/gm)].map((match) => match[1].trim());
  const counts = {
    passed: passed ?? 0,
    failed: (total ?? 0) - (passed ?? 0),
    skipped: skipped ?? 0,
    reasons,
  };
  const problem = problemOf(total, counts, end);
  // A file that broke off counts once, whatever of it had passed before.
  if (problem !== null && counts.failed === 0) counts.failed = 1;
  return { ...counts, problem };
}

function problemOf(total, counts, { code, signal, timedOut, leftBehind }) {
  if (timedOut) return 'did not end in time';
  if (total === null) return `ended without a report (${signal ?? `exit code ${code}`})`;
  if (total === 0 && counts.skipped === 0) return 'ran no test';
  if (counts.failed === 0 && code !== 0)
    return `all passed, yet it ended with ${signal ?? `exit code ${code}`}`;
  if (leftBehind) return 'left a process behind';
  return null;
}

/** @param {FileResult[]} results */
export function sum(results) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const result of results) for (const name of Object.keys(total)) total[name] += result[name];
  return total;
}

/** The plain closing line. @param {{passed: number, failed: number, skipped: number}} counts */
export function countsLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
