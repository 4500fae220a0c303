import { Os2gError } from '../../../errors.js';
import { isFolderMarker } from '../../../manifest/index-objects.js';
import type { ListedObject } from '../../../s3/listing.js';
import type { S3Location } from '../../../s3/location.js';
import type { S3Store } from '../../../s3/store.js';
import { counted } from '../../output/numbers.js';
import { type Check, fail, ok } from '../check.js';

const KEPT = 64;

export interface Listed {
  readonly check: Check;
  /** Some objects of the first page that has any, to be read; no folder markers, none that is archived. */
  readonly objects: readonly ListedObject[];
}

/** The first page of the listing that holds an object. */
export async function listingCheck(
  store: S3Store,
  { bucket, prefix }: S3Location,
  signal: AbortSignal,
): Promise<Listed> {
  const name = 'listing';
  let markers = 0;
  try {
    for await (const page of store.listObjects(bucket, prefix, signal)) {
      const objects = page.filter((object) => !isFolderMarker(object));
      markers += page.length - objects.length;
      if (objects.length === 0) continue;
      const beside = markers === 0 ? '' : ` (and ${counted(markers, 'folder marker')}, no samples)`;
      const readable = objects.filter(({ archived }) => !archived).slice(0, KEPT);
      return {
        check: ok(name, `${counted(objects.length, 'object')} on the first page${beside}`),
        objects: readable,
      };
    }
  } catch (error) {
    if (!(error instanceof Os2gError)) throw error;
    const { message, mend } = error.told('command');
    return { check: fail(name, message, mend), objects: [] };
  }
  const only = markers === 0 ? 'nothing' : `nothing but ${counted(markers, 'folder marker')}`;
  const what =
    prefix === '' ? `bucket ${bucket} holds ${only}` : `${only} begins with ${JSON.stringify(prefix)}`;
  return { check: fail(name, what, 'check bucket and prefix; case counts'), objects: [] };
}
