import type { MachineState } from './machine.js';
import { spreadOf } from './spread.js';

/** Columns side by side; the first is left-aligned, the others right. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  }
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ');
  return `${rows.map(line).join('\n')}\n`;
}

/** The lines under every table: load and calibration. */
export function machineText(state: MachineState): string {
  const { node, architecture, cores, loadBefore, loadAfter } = state;
  const loop = spreadOf(state.calibrationNs);
  return (
    `node ${node} on ${architecture}, ${cores} cores; load ${loadBefore.toFixed(2)} before, ${loadAfter.toFixed(2)} after\n` +
    `calibration loop: min ${loop.min.toFixed(3)} ns, median ${loop.median.toFixed(3)} ns, max ${loop.max.toFixed(3)} ns a turn\n`
  );
}
