import type { CommandSpec } from './command.js';
import { COMMANDS } from './commands.js';
import { errorsMarkdown } from './error-document.js';
import { type OptionTable, optionName, variableName } from './options/spec.js';
import { COMMON_OPTIONS, S3_OPTIONS } from './options/tables.js';
import { markdownTable } from './output/table.js';
import { settingsMarkdown } from './settings-table.js';

/** The generated documents: path and text. */
export function documents(): Readonly<Record<string, string>> {
  return {
    'docs/settings.md': settingsMarkdown(),
    'docs/cli.md': commandsMarkdown(),
    'docs/errors.md': errorsMarkdown(),
  };
}

function optionRows(table: OptionTable): string {
  const rows = Object.entries(table).map(([field, spec]) => {
    const short = spec.short ? `-${spec.short}, ` : '';
    const flag = `${short}--${optionName(field)}${spec.placeholder ? ` ${spec.placeholder}` : ''}`;
    return [`\`${flag}\``, `\`${variableName(field)}\``, spec.defaultText ?? '', spec.meaning];
  });
  return markdownTable([['option', 'variable', 'default', 'meaning'], ...rows]);
}

function section({ name, summary, args, options, examples }: CommandSpec): string {
  const own = Object.fromEntries(Object.entries(options).filter(([field]) => !(field in S3_OPTIONS)));
  const readsStore = 'endpoint' in options;
  return [
    `## os2g ${name}`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}: \`${[`os2g ${name}`, '[options]', ...args.map(({ form }) => form)].join(' ')}\``,
    ...(args.length > 0 ? [args.map(({ form, meaning }) => `\`${form}\`: ${meaning}.`).join('\n')] : []),
    ...(Object.keys(own).length > 0 ? [optionRows(own)] : []),
    ...(readsStore ? ['Also the options of [the store](#the-store).'] : []),
    ...(examples.length > 0 ? [`\`\`\`sh\n${examples.join('\n')}\n\`\`\``] : []),
  ].join('\n\n');
}

function commandsMarkdown(): string {
  return `# The command \`os2g\`

<!-- Made from the option tables of runtime-node/cli by \`node scripts/docs.js\`; do not edit. -->

${COMMANDS.map(({ name, summary }) => `- [\`os2g ${name}\`](#os2g-${name}): ${summary}`).join('\n')}

## What all commands have in common

${optionRows(COMMON_OPTIONS)}

- **Output.** Results go to standard output; logs, progress and errors to standard error. With \`--json\` standard output holds
  exactly one JSON document: the result, or \`{"schema":"os2g.error/1","error":{"code","message","mend",...}}\`. A reader that closes
  standard output early (\`os2g ... | head\`) is no error.
- **Exit codes.** 0 done; 1 the work failed (or \`replay\` does not match, or \`doctor\` found a failure); 2 the call or the
  configuration is wrong, and nothing was started; 130 interrupted by SIGINT, 143 by SIGTERM. A second signal ends at once.
- **Where a value comes from.** The flag, then the \`OS2G_*\` variable, then the file that \`--config\` names, then the default. The file is
  a JSON object with the options' names: \`{"batch-samples": 256, "memory": "1GiB", "set": {"hedge.share": 0.01}}\`; an unknown
  field is refused by name. \`set\` merges setting by setting; \`OS2G_SET=a=1,b=2\` takes several.
- **Values.** Sizes are written \`64MiB\` (binary) or \`64MB\` (decimal), durations \`5s\`, \`20ms\`; a bare number is refused where a unit is
  needed, and whole numbers are plain digits.
- **Terminal.** Progress appears on a terminal only, unless \`--progress\` says otherwise. \`NO_COLOR\` is honoured.

## The store

With every command that reads a store. What is not said follows the AWS conventions: \`AWS_ENDPOINT_URL_S3\`, \`AWS_REGION\`,
\`AWS_PROFILE\`, \`AWS_CA_BUNDLE\`, shared files, container and web-identity providers. \`--profile NAME\` and \`AWS_PROFILE=NAME\` mean the same: the
profile's credentials, its \`region\`, its \`endpoint_url\` (with \`services\` and \`ignore_configured_endpoint_urls\`) and its \`ca_bundle\`. A profile
that does not exist is an error. The fields of each \`--json\` document: [results.md](results.md).

${optionRows(S3_OPTIONS)}

${COMMANDS.map(section).join('\n\n')}
`;
}
