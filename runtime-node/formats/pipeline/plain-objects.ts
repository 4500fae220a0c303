import { ConfigError } from '../../errors.js';
import { objectRow } from '../../manifest/object-rows.js';
import type { FormatName, SampleFormat } from '../format.js';

/** Plain objects as pieces of work: for what the listing does not tell of them, each is looked into. */
export const PLAIN_OBJECTS: SampleFormat = {
  name: 'objects',
  claims: () => true,
  async plan(objects) {
    const units = objects.map((object) => ({
      object,
      async *rows() {
        yield [objectRow(object)];
      },
    }));
    return { units, notes: [] };
  },
};

/** @throws ConfigError `bad_option` where samples of the format are no pictures */
export function refuseImageSize(name: FormatName): void {
  if (name !== 'npy') return;
  throw new ConfigError(
    'bad_option',
    '--image-size: samples of the format npy are tensors, and have a shape instead',
    'leave --image-size out: dtype and shape are in the manifest',
    { option: 'image-size' },
  );
}
