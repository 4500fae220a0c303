import { ROBUST } from '../../../simulator/tune/score.js';
import { METHODS } from '../../../simulator/tune/search.js';
import { OBJECTIVES } from '../../../simulator/tune/trial.js';
import { choice, count, durationNs, flag, list, text, unset } from './kinds.js';

export const DEFAULT_BUDGET = 200;
const HOUR_NS = 3600e9;

export const TUNE_OPTIONS = {
  output: text('file', {
    short: 'o',
    meaning: 'the policy file to write; what it is worth goes beside it, into the same name with .tune.json',
  }),
  objective: choice(OBJECTIVES, 'epoch_time', {
    placeholder: 'name',
    meaning: `what is to become less: ${OBJECTIVES.join(', ')}`,
  }),
  constraint: list('name<=value', {
    meaning: 'a limit in the unit of the figure (90s, 256MiB, 100000) or in multiples of the preset (1.02x)',
  }),
  robust: choice(ROBUST, 'mean', { meaning: 'over scenarios and seeds: the mean, or the worst of them' }),
  pipeline: choice(['os2g', 'relay', 'os2g-host'], 'os2g', { meaning: 'the pipeline that is simulated' }),
  seeds: count({ min: 1, max: 100 }, 3, { meaning: 'seeds of each scenario, in the search and held out' }),
  heldOut: list('file', {
    meaning: 'scenarios to check the policy with, never searched in',
    defaultText: 'neighbours of the scenarios',
  }),
  budget: unset(
    count({ min: 1, max: 1_000_000 }, DEFAULT_BUDGET, {
      meaning: 'what the search may simulate, in whole runs; a shorter run counts as its share',
    }),
    String(DEFAULT_BUDGET),
  ),
  time: unset(
    durationNs({ min: 1e9, max: 1000 * HOUR_NS }, HOUR_NS, {
      meaning: 'search for so long instead; what comes out then depends on the machine',
    }),
  ),
  seed: count({ min: 0, max: Number.MAX_SAFE_INTEGER }, 1, { meaning: 'seed of what the search draws' }),
  search: choice(METHODS, 'halving', { meaning: 'successive halving, or random draws to compare it with' }),
  workers: unset(count({ min: 1, max: 256 }, 1, { meaning: 'threads that simulate' }), 'one a core'),
  journal: text('file', { meaning: 'keep every outcome in this file' }),
  resume: flag({ meaning: 'go on from the file of --journal' }),
};
