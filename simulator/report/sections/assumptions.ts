import type { ParameterNote } from '../../profiles/parameter.js';
import type { SimulateResult } from '../../result.js';
import { type Html, html, tableOf } from '../html.js';

const BASES = ['measured', 'cited', 'assumed', 'scenario'] as const;

const MEANING: Readonly<Record<ParameterNote['basis'], string>> = {
  measured: 'measured',
  cited: 'cited from a public source',
  assumed: 'assumed',
  scenario: 'set by the scenario file',
};

/** A value of a scenario in words: `lognormal: median 20, sigma 0.5`. */
export function valueText(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  const { kind, ...fields } = value as Record<string, unknown>;
  const rest = Object.entries(fields).map(([name, field]) =>
    Array.isArray(field) ? JSON.stringify(field) : `${name} ${valueText(field)}`,
  );
  if (kind === 'constant') return valueText(fields.value);
  return kind === undefined
    ? rest.join(', ')
    : `${valueText(kind)}${rest.length > 0 ? `: ${rest.join(', ')}` : ''}`;
}

/** Every parameter of machine, store and clients, with what it rests on. */
export function assumptionsTable({ scenario, parameters }: SimulateResult): Html {
  const counts = BASES.map((basis) => ({
    basis,
    count: parameters.filter((note) => note.basis === basis).length,
  }));
  const sentence = counts
    .filter(({ count }) => count > 0)
    .map(({ basis, count }) => `${count} ${MEANING[basis]}`);
  const rows = parameters.map(({ path, value, basis, source }) => [
    html`<code>${path}</code>`,
    valueText(value),
    html`<span class="basis b-${basis}">${basis}</span>`,
    source,
  ]);
  return html`<p>${parameters.length} parameters of profile <b>${scenario.profile}</b>: ${sentence.join(', ')}. The unit is the end of each name.
A result is worth what these are worth.</p>${tableOf('Every parameter and what it rests on', [['parameter', 'value', 'basis', 'source'], ...rows])}`;
}

/** What the run was about: data set, training, faults, policy. */
export function scenarioTable({
  scenario,
  policy,
  scenario_sha256,
  core_sha256,
  results,
}: SimulateResult): Html {
  const { dataset, training, faults, nodes, seed } = scenario;
  const fields = (part: object, prefix: string): (readonly [string, string])[] =>
    Object.entries(part).map(([name, value]) => [`${prefix}.${name}`, valueText(value)] as const);
  const rows: (readonly [string, string])[] = [
    ['nodes', String(nodes)],
    ['seed', String(seed)],
    ...fields(dataset, 'dataset'),
    ...fields(training, 'training'),
    ['faults', faults.length === 0 ? 'none' : faults.map((fault) => valueText(fault)).join('; ')],
    ['policy', policy.preset],
    ...Object.entries(scenario.policy.set).map(
      ([name, value]) => [`policy: ${name}`, valueText(value)] as const,
    ),
    ['scenario_sha256', scenario_sha256],
    ['core_sha256', core_sha256],
    ...results.map(({ pipeline, run_hash }) => [`run_hash of ${pipeline}`, run_hash] as const),
  ];
  return tableOf('The run', [
    ['field', 'value'],
    ...rows.map(([name, value]) => [html`<code>${name}</code>`, value]),
  ]);
}
