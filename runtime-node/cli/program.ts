import { Command, CommanderError, Option } from 'commander';
import { ConfigError } from '../errors.js';
import { didYouMean } from '../nearest.js';
import { packageVersion } from '../package-root.js';
import { usualName } from '../usual-names.js';
import type { CommandSpec } from './command.js';
import type { RawFlags } from './options/resolve.js';
import { type OptionSpec, type OptionTable, optionName, variableName } from './options/spec.js';

/** Commands of the contract that a later version brings. */
const LATER = ['serve', 'calibrate'];

/** What the command line asks for. */
export type Parsed =
  | {
      readonly kind: 'call';
      readonly spec: CommandSpec;
      readonly args: readonly (string | undefined)[];
      readonly flags: RawFlags;
    }
  | { readonly kind: 'text'; readonly text: string };

function optionOf(field: string, spec: OptionSpec<unknown>): Option {
  const short = spec.short ? `-${spec.short}, ` : '';
  const value = spec.placeholder ? ` ${spec.placeholder}` : '';
  const facts = [
    ...(spec.defaultText === null ? [] : [`default: ${spec.defaultText}`]),
    ...(spec.repeatable ? ['repeatable'] : []),
    `env: ${variableName(field)}`,
  ];
  const option = new Option(
    `${short}--${optionName(field)}${value}`,
    `${spec.meaning} (${facts.join('; ')})`,
  );
  if (!spec.repeatable) return option;
  return option.argParser<string[] | undefined>((text, previous) => [...(previous ?? []), text]);
}

function addOptions(command: Command, table: OptionTable): Command {
  for (const [field, spec] of Object.entries(table)) command.addOption(optionOf(field, spec));
  return command;
}

/** commander's tree over the tables; it reads words, it runs nothing. */
function build(
  commands: readonly CommandSpec[],
  common: OptionTable,
  take: (call: Parsed) => void,
  print: (text: string) => void,
): Command {
  const program = new Command('os2g')
    .description('Feeds GPUs from S3 in training order.')
    .version(packageVersion, '-V, --version')
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: () => {} })
    .configureHelp({ showGlobalOptions: true, helpWidth: 110 });
  addOptions(program, common);
  for (const spec of commands) {
    const command = program.command(spec.name).summary(spec.summary).description(spec.summary);
    for (const { form, meaning } of spec.args) command.argument(form, meaning);
    addOptions(command, spec.options);
    if (spec.examples.length > 0) {
      command.addHelpText('after', `\nExamples:\n${spec.examples.map((line) => `  ${line}`).join('\n')}`);
    }
    command.action((...given: unknown[]) => {
      const args = given.slice(0, spec.args.length).flat() as (string | undefined)[];
      take({ kind: 'call', spec, args, flags: command.optsWithGlobals() });
    });
  }
  return program;
}

/**
 * Reads a command line (without `node` and the script).
 * @throws ConfigError `bad_call` with a suggestion where a word is near.
 */
export function parseCommandLine(
  argv: readonly string[],
  commands: readonly CommandSpec[],
  common: OptionTable,
): Parsed {
  let call: Parsed | null = null;
  let printed = '';
  const take = (parsed: Parsed): void => {
    call = parsed;
  };
  const program = build(commands, common, take, (text) => {
    printed += text;
  });
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: 'text', text: printed };
    throw badCall(error, argv, commands);
  }
  if (!call) throw noCommand(commands);
  return call;
}

/** The help text of the program or of one command. */
export function helpText(commands: readonly CommandSpec[], common: OptionTable, name?: string): string {
  const program = build(
    commands,
    common,
    () => {},
    () => {},
  );
  const command = name === undefined ? program : program.commands.find((c) => c.name() === name);
  if (!command) throw new Error(`no command ${name}`);
  return command.helpInformation();
}

function noCommand(commands: readonly CommandSpec[]): ConfigError {
  const names = commands.map((spec) => spec.name).join(', ');
  return new ConfigError(
    'bad_call',
    `no command was given: os2g has ${names}`,
    'begin with `os2g demo`; `os2g --help` tells more',
  );
}

function badCall(
  error: CommanderError,
  argv: readonly string[],
  commands: readonly CommandSpec[],
): ConfigError {
  if (error.code === 'commander.help') return noCommand(commands);
  const names = commands.map((spec) => spec.name);
  if (error.code === 'commander.unknownCommand') {
    const word = /'(.*)'/.exec(error.message)?.[1] ?? '';
    if (LATER.includes(word)) {
      return new ConfigError(
        'not_in_this_version',
        `os2g ${word} is not in this version`,
        `this version has ${names.join(', ')}`,
      );
    }
    return new ConfigError(
      'bad_call',
      `there is no command ${JSON.stringify(word)}`,
      didYouMean(word, names, '`os2g --help` lists the commands'),
    );
  }
  const [message = '', hint] = error.message.replace(/^error: /, '').split('\n');
  const name = argv.find((word) => names.includes(word));
  const usual = usualOption(
    message,
    commands.find((spec) => spec.name === name),
  );
  const suggestion = usual ?? hint?.replace(/^\(|\)$/g, '').replace(/^Did/, 'did');
  const option = /'(?:-\w, )?--([a-z-]+)/.exec(message)?.[1];
  return new ConfigError(
    'bad_call',
    message,
    suggestion ?? `\`os2g ${name ? `${name} ` : ''}--help\` lists what it takes`,
    {
      ...(option ? { option } : {}),
    },
  );
}

/** What an unknown option of the field's tools is called here. */
function usualOption(message: string, spec: CommandSpec | undefined): string | undefined {
  const word = /unknown option '--([A-Za-z_-]+)/.exec(message)?.[1];
  if (word === undefined || spec === undefined) return undefined;
  return usualName(
    word,
    Object.keys(spec.options).map((field) => `--${optionName(field)}`),
  );
}
