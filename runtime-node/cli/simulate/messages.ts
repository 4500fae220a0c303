import type { LoadedScenario, Overrides, SimulateResult } from '../../../simulator/index.js';
import type { ErrorContext, ExitCode } from '../../errors.js';

/** What a simulation in a worker thread is given. */
export interface SimulateTask {
  readonly loaded: LoadedScenario;
  readonly overrides: Overrides;
  readonly trace: string | undefined;
  readonly wantsReport: boolean;
  readonly wantsTimeline: boolean;
}

/** An error on its way between threads: classes do not cross. */
export interface ErrorMessage {
  readonly isOurs: boolean;
  readonly code: string;
  readonly message: string;
  readonly mend: string;
  readonly context: Omit<ErrorContext, 'cause'>;
  readonly exitCode: ExitCode;
  readonly stack: string | undefined;
}

export type SimulateMessage =
  | {
      readonly kind: 'progress';
      readonly pipeline: string;
      readonly index: number;
      readonly steps: number;
      readonly nowNs: number;
    }
  | {
      readonly kind: 'done';
      readonly result: SimulateResult;
      readonly report: string | null;
      readonly timeline: string | null;
    }
  | { readonly kind: 'failed'; readonly error: ErrorMessage };
