import type { CommandSpec } from './command.js';
import { demoCommand } from './commands/demo.js';
import { doctorCommand } from './commands/doctor.js';
import { feedCommand } from './commands/feed.js';
import { indexCommand } from './commands/index.js';
import { replayCommand } from './commands/replay.js';
import { simulateCommand } from './commands/simulate.js';
import { tuneCommand } from './commands/tune.js';

/** In the order that help lists them. */
export const COMMANDS: readonly CommandSpec[] = [
  demoCommand,
  indexCommand,
  feedCommand,
  simulateCommand,
  tuneCommand,
  replayCommand,
  doctorCommand,
];
