import { formatRange, formatSetting } from '../policy/resolve.js';
import { PRESET_NAMES, SETTINGS, type Setting } from '../policy/settings.js';
import { markdownTable, table } from './output/table.js';

const UNITS = {
  bytes: 'bytes (64MiB)',
  duration: 'time (20ms)',
  count: 'count',
  ratio: 'ratio',
  choice: 'word',
} as const;

const HEADINGS = ['setting', 'range', ...PRESET_NAMES, 'unit', 'meaning'];

function cells(setting: Setting): string[] {
  return [
    setting.name,
    formatRange(setting),
    ...PRESET_NAMES.map((preset) => String(formatSetting(setting, setting.presets[preset]))),
    UNITS[setting.kind],
    setting.meaning,
  ];
}

/** What `os2g feed --help-settings` prints: name, range, default of each preset, unit, meaning. */
export function settingsText(): string {
  return table([HEADINGS, ...SETTINGS.map(cells)], 'text');
}

/** The same as a document, for `--json`. */
export function settingsDocument(): Record<string, unknown> {
  const settings = SETTINGS.map((setting) => ({
    name: setting.name,
    range: formatRange(setting),
    presets: Object.fromEntries(
      PRESET_NAMES.map((preset) => [preset, formatSetting(setting, setting.presets[preset])]),
    ),
    kind: setting.kind,
    tunable: setting.tunable,
    meaning: setting.meaning,
  }));
  return { schema: 'os2g.settings/1', settings };
}

/** docs/settings.md. */
export function settingsMarkdown(): string {
  const rows = SETTINGS.map((setting) => {
    const [name = '', ...rest] = cells(setting);
    return [`\`${name}\``, ...rest];
  });
  return `# Settings of the policy

<!-- Made from runtime-node/policy/settings.ts by \`node scripts/docs.js\`; do not edit. -->

\`os2g feed --policy NAME\` takes a preset; \`--set NAME=VALUE\` changes one setting of it, as often as needed. A policy file
(\`{"schema":"os2g.policy/1","preset":"os2g","set":{"window.bytes":"64MiB"}}\`) holds both. Sizes and times are written with
their unit; \`KiB MiB GiB TiB\` are binary, \`KB MB GB TB\` decimal.

${markdownTable([HEADINGS, ...rows])}
`;
}
