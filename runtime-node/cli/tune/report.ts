import type { Margin, TuneResult } from '../../../simulator/tune/index.js';
import { counted, formatCount, formatFigure, formatShare } from '../output/numbers.js';
import { printable } from '../output/printable.js';
import { facts, table } from '../output/table.js';

/** A search for people: the policy, what it is worth where it was not looked for, and what each setting adds. */
export function tuneText(result: TuneResult, { policy, worth }: { policy: string; worth: string }): string {
  const { search, margin } = result;
  const searched = `${formatCount(search.candidates)} candidates in ${formatCount(search.runs)} simulations (${formatFigure(search.work)} whole runs)`;
  return [
    `${printable(result.scenarios.map(({ name }) => name).join(', '))}: ${searched}`,
    table(marginRows(margin)),
    sensitivityText(result),
    facts([
      ['policy', `${policy} (os2g feed --policy ${policy})`],
      ['evidence', worth],
    ]),
  ].join('\n\n');
}

function marginRows({ search, held_out_seeds, held_out_scenarios }: TuneResult['margin']): string[][] {
  const row = (title: string, margin: Margin | null): string[][] => {
    if (!margin) return [];
    const { ratio, gain, constraints_hold, runs } = margin;
    const worst = runs.reduce((most, run) => Math.max(most, run.ratio ?? Number.POSITIVE_INFINITY), 0);
    const cells = [
      ratio === null ? 'failed' : formatShare(ratio),
      gain === null ? '-' : formatShare(gain),
      formatShare(worst),
    ];
    return [[title, ...cells, constraints_hold ? 'hold' : 'broken', String(runs.length)]];
  };
  const others = held_out_scenarios?.given ? 'held-out scenarios' : 'neighbours, held-out seeds';
  return [
    ['', 'of the preset', 'saved', 'worst run', 'constraints', 'runs'],
    ...row('seeds of the search', search),
    ...row('held-out seeds', held_out_seeds),
    ...row(others, held_out_scenarios),
  ];
}

function unchangedText({ preset, set }: TuneResult['base']): string {
  const settings = Object.keys(set).length;
  if (settings === 0) return 'Nothing better than the preset was found: the policy file is the preset.';
  const own = `preset ${preset} with ${counted(settings, 'setting')} of its own`;
  return `Nothing better than the scenario's policy was found: the policy file is that one, ${own}.`;
}

function sensitivityText({ sensitivity, objective, base }: TuneResult): string {
  if (!sensitivity) return '';
  if (sensitivity.length === 0) return unchangedText(base);
  const rows = sensitivity.map(({ setting, base: before, tuned, worth, constraints_hold_without: holds }) => [
    setting,
    String(before),
    String(tuned),
    `${worth === null ? 'fails' : formatShare(worth)}${holds ? '' : ', breaks a constraint'}`,
  ]);
  return table([['setting', 'preset', 'tuned', `${objective} lost without it`], ...rows]);
}
