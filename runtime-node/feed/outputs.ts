import { checkOutputs, type Input, type Output } from '../output-files.js';
import { looksLikeAudit } from './audit.js';
import { looksLikeCursor } from './cursor-file.js';
import type { FeedOptions } from './options.js';
import { isPolicyFile } from './policy-file.js';
import { looksLikeTrace } from './trace.js';

/**
 * Checks that what a feed is to write replaces nothing but what a feed wrote, and nothing that it reads.
 * @throws ConfigError `bad_output` that names the option
 */
export function checkFeedOutputs(options: FeedOptions): void {
  const { cursorOut, audit, trace } = options;
  const outputs: Output[] = [];
  if (cursorOut !== undefined)
    outputs.push({ option: 'cursorOut', path: cursorOut, kind: 'a cursor', isOurs: looksLikeCursor });
  if (audit !== undefined)
    outputs.push({ option: 'audit', path: audit, kind: 'an audit', isOurs: looksLikeAudit });
  if (trace !== undefined)
    outputs.push({ option: 'trace', path: trace, kind: 'a trace', isOurs: looksLikeTrace });
  if (outputs.length > 0) checkOutputs(outputs, inputsOf(options));
}

function inputsOf({ manifest, policy, resume, s3 }: FeedOptions): Input[] {
  const inputs: Input[] = [];
  if (typeof manifest === 'string') inputs.push({ option: 'manifest', path: manifest });
  if (typeof policy === 'string' && isPolicyFile(policy)) inputs.push({ option: 'policy', path: policy });
  if (typeof resume === 'string') inputs.push({ option: 'resume', path: resume, sharedWith: 'cursorOut' });
  if (s3?.caBundle !== undefined) inputs.push({ option: 's3.caBundle', path: s3.caBundle });
  if (s3?.clientCert !== undefined) inputs.push({ option: 's3.clientCert', path: s3.clientCert });
  if (s3?.clientKey !== undefined) inputs.push({ option: 's3.clientKey', path: s3.clientKey });
  return inputs;
}
