import * as layout from '../../assembly/layout.js';
import { ConfigError, Os2gError } from '../errors.js';
import { shown } from '../shown.js';
import { FLAG, isPlain, OBJECT } from './option-shapes.js';
import type { Pump } from './pump.js';

/** Bounds of an external order. */
export interface ExternalLimits {
  /** Rows of the manifest. */
  rows: number;
  batchSamples: number;
  /** Most positions held ahead of their delivery; 0: the order is not external. */
  lookahead: number;
}

/**
 * The caller's end of an external order: positions in, within a bounded look-ahead. It keeps the core's own account of positions and
 * batches, so that what does not fit is refused here, before the core is told.
 */
export class External {
  readonly #pump: Pump;
  readonly #consumer: number;
  readonly #limits: ExternalLimits;
  readonly #mostBatches: number;
  /** Positions that were not delivered yet. */
  #outstanding = 0;
  /** Batches that were begun and not consumed yet. */
  #batches = 0;
  /** Positions in the batch that is still filling. */
  #filling = 0;
  #isEnded = false;

  constructor(pump: Pump, consumer: number, limits: ExternalLimits) {
    this.#pump = pump;
    this.#consumer = consumer;
    this.#limits = limits;
    this.#mostBatches = Math.min(layout.MAX_BATCHES, Math.floor(layout.MAX_SAMPLES / limits.batchSamples));
  }

  /** Positions that `request` takes now, in whole batches. */
  get free(): number {
    if (this.#isEnded) return 0;
    const { batchSamples, lookahead } = this.#limits;
    const filling = this.#filling > 0 ? batchSamples - this.#filling : 0;
    const slots = (this.#mostBatches - this.#batches) * batchSamples + filling;
    return Math.min(lookahead - this.#outstanding, slots);
  }

  /** @throws Os2gError `not_external`, `bad_row`, `lookahead_full`, `order_ended` */
  request(rows: ArrayLike<number>, options: { endBatch?: boolean; end?: boolean }): void {
    checkArguments(rows, options);
    const { endBatch = false, end = false } = options;
    this.#check(rows, endBatch);
    const filled = this.#filling + rows.length;
    const { batchSamples } = this.#limits;
    this.#batches += Math.ceil(filled / batchSamples) - (this.#filling > 0 ? 1 : 0);
    this.#filling = endBatch ? 0 : filled % batchSamples;
    this.#outstanding += rows.length;
    this.#isEnded = end;
    this.#pump.requested(this.#consumer, rows, endBatch, end);
  }

  delivered(samples: number): void {
    this.#outstanding -= samples;
  }

  consumed(): void {
    this.#batches -= 1;
  }

  #check(rows: ArrayLike<number>, endBatch: boolean): void {
    if (this.#limits.lookahead === 0) {
      const mend = "open the feed with shuffle: 'external'";
      throw new ConfigError('not_external', 'request() needs an external order', mend, { option: 'shuffle' });
    }
    if (this.#isEnded) {
      throw new Os2gError(
        'order_ended',
        'request() after the end of the order',
        'say `end` with the last rows only',
      );
    }
    if (endBatch && rows.length === 0) {
      throw new Os2gError(
        'bad_row',
        'request(): endBatch without a row',
        'say `endBatch` with the last row of the batch',
      );
    }
    this.#checkRows(rows);
    if (rows.length > this.free) {
      throw new Os2gError(
        'lookahead_full',
        `request(): ${rows.length} rows do not fit into the ${this.free} that are free`,
        'ask feed.requestable first, take and release batches, or raise external.lookahead',
        { option: 'external.lookahead' },
      );
    }
  }

  #checkRows(rows: ArrayLike<number>): void {
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      if (Number.isInteger(row) && row >= 0 && row < this.#limits.rows) continue;
      const range = `0..${this.#limits.rows - 1}`;
      throw new Os2gError(
        'bad_row',
        `request(): ${shown(row)} is not a row of the manifest`,
        `give rows in ${range}`,
      );
    }
  }
}

/** @throws ConfigError `bad_argument` that names the argument */
function checkArguments(rows: unknown, options: unknown): void {
  const isList =
    typeof rows === 'object' && rows !== null && 'length' in rows && Number.isInteger(rows.length);
  if (!isList) throw badArgument('rows', rows, 'a list of rows', 'give an array of rows of the manifest');
  if (!isPlain(options)) throw badArgument('options', options, OBJECT.is, 'give {endBatch, end} or nothing');
  for (const name of ['endBatch', 'end']) {
    const value = options[name];
    if (value !== undefined && !FLAG.fits(value)) throw badArgument(name, value, FLAG.is, FLAG.mend);
  }
}

function badArgument(name: string, value: unknown, is: string, mend: string): ConfigError {
  return new ConfigError('bad_argument', `request(): ${name}: ${shown(value)} is not ${is}`, mend, {
    option: name,
  });
}
