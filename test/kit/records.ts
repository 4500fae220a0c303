import * as layout from '../../assembly/layout.js';
import type { Core } from '../../runtime-node/core.js';

/** Actions of the core as objects: for tests, where clarity counts more than cost. */
export type Action =
  | { kind: 'resolve'; consumer: number; slot: number; epoch: number; batch: number; row: number }
  | {
      kind: 'fetch';
      consumer: number;
      id: number;
      attempt: number;
      row: number;
      offset: number;
      length: number;
      target: number;
      staged: boolean;
      hedge: boolean;
    }
  | { kind: 'cancel'; consumer: number; id: number; attempt: number }
  | {
      kind: 'place';
      consumer: number;
      id: number;
      attempt: number;
      row: number;
      from: number;
      length: number;
      target: number;
    }
  | {
      kind: 'deliver';
      consumer: number;
      epoch: number;
      batch: number;
      samples: number;
      pads: number;
      offset: number;
      length: number;
      bytes: number;
    }
  | {
      kind: 'sample';
      consumer: number;
      epoch: number;
      batch: number;
      index: number;
      row: number;
      offset: number;
      length: number;
      target: number;
      pad: boolean;
      skipped: boolean;
    }
  | {
      kind: 'skip';
      consumer: number;
      id: number;
      class: number;
      epoch: number;
      batch: number;
      row: number;
      index: number;
    }
  | {
      kind: 'fail';
      consumer: number;
      id: number;
      code: number;
      class: number;
      row: number;
      needed: number;
      limit: number;
    }
  | { kind: 'end'; consumer: number; batches: number };

export type ActionOf<K extends Action['kind']> = Extract<Action, { kind: K }>;

/** Takes every action that waits, in order. */
export function drainActions(core: Core): Action[] {
  const actions: Action[] = [];
  for (let word = core.action(); word >= 0; word = core.action()) actions.push(decode(core, word));
  return actions;
}

function decode(core: Core, word: number): Action {
  const w = (index: number): number => core.u32[word + index]!;
  const d = (half: number): number => core.f64[(word >> 1) + half]!;
  const consumer = w(layout.W_CONSUMER);
  const place = { consumer, epoch: w(layout.W_EPOCH), batch: w(layout.W_BATCH) };
  const request = { consumer, id: w(layout.W_ID), attempt: w(layout.W_ATTEMPT) };
  switch (w(layout.W_KIND)) {
    case layout.ACTION_RESOLVE:
      return { kind: 'resolve', ...place, slot: w(layout.W_ID), row: d(layout.RESOLVE_D_ROW) };
    case layout.ACTION_FETCH: {
      const flags = w(layout.FETCH_W_FLAGS);
      return {
        kind: 'fetch',
        ...request,
        row: d(layout.FETCH_D_ROW),
        offset: d(layout.FETCH_D_OFFSET),
        length: d(layout.FETCH_D_LENGTH),
        target: d(layout.FETCH_D_TARGET),
        staged: (flags & layout.FETCH_TO_STAGING) !== 0,
        hedge: (flags & layout.FETCH_IS_HEDGE) !== 0,
      };
    }
    case layout.ACTION_CANCEL:
      return { kind: 'cancel', ...request };
    case layout.ACTION_PLACE:
      return {
        kind: 'place',
        ...request,
        row: d(layout.PLACE_D_ROW),
        from: d(layout.PLACE_D_FROM),
        length: d(layout.PLACE_D_LENGTH),
        target: d(layout.PLACE_D_TARGET),
      };
    case layout.ACTION_DELIVER:
      return {
        kind: 'deliver',
        ...place,
        samples: w(layout.DELIVER_W_SAMPLES),
        pads: w(layout.DELIVER_W_PADS),
        offset: d(layout.DELIVER_D_OFFSET),
        length: d(layout.DELIVER_D_LENGTH),
        bytes: d(layout.DELIVER_D_BYTES),
      };
    case layout.ACTION_SAMPLE: {
      const flags = w(layout.SAMPLE_W_FLAGS);
      return {
        kind: 'sample',
        ...place,
        index: w(layout.SAMPLE_W_INDEX),
        row: d(layout.SAMPLE_D_ROW),
        offset: d(layout.SAMPLE_D_OFFSET),
        length: d(layout.SAMPLE_D_LENGTH),
        target: d(layout.SAMPLE_D_TARGET),
        pad: (flags & layout.SAMPLE_IS_PAD) !== 0,
        skipped: (flags & layout.SAMPLE_IS_SKIPPED) !== 0,
      };
    }
    case layout.ACTION_SKIP:
      return {
        kind: 'skip',
        ...place,
        id: w(layout.W_ID),
        class: w(layout.SKIP_W_CLASS),
        row: d(layout.SKIP_D_ROW),
        index: d(layout.SKIP_D_INDEX),
      };
    case layout.ACTION_FAIL:
      return {
        kind: 'fail',
        consumer,
        id: w(layout.W_ID),
        code: w(layout.FAIL_W_CODE),
        class: w(layout.FAIL_W_CLASS),
        row: d(layout.FAIL_D_ROW),
        needed: d(layout.FAIL_D_NEEDED),
        limit: d(layout.FAIL_D_LIMIT),
      };
    case layout.ACTION_END:
      return { kind: 'end', consumer, batches: d(layout.END_D_BATCHES) };
    default:
      throw new Error(`the core emitted an action of unknown kind ${w(layout.W_KIND)}`);
  }
}
