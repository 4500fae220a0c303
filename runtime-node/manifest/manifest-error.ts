import { ConfigError } from '../errors.js';

/** Where in a manifest something is wrong. */
export interface ManifestPlace {
  /** Path of the file, or null for columns that were never in one. */
  file: string | null;
  row?: number;
  column?: string;
}

/** A manifest that cannot be used: says file, row and column, and what to do. */
export function badManifest(place: ManifestPlace, what: string, mend: string, cause?: unknown): ConfigError {
  const where = [
    place.file ?? 'manifest',
    ...(place.row === undefined ? [] : [`row ${place.row}`]),
    ...(place.column === undefined ? [] : [`column ${place.column}`]),
  ].join(', ');
  return new ConfigError('bad_manifest', `${where}: ${what}`, mend, {
    ...(place.file === null ? {} : { file: place.file }),
    ...(place.row === undefined ? {} : { row: place.row }),
    ...(place.column === undefined ? {} : { option: place.column }),
    ...(cause === undefined ? {} : { cause }),
  });
}

export const MEND_DAMAGED =
  'make the manifest anew with `os2g index`, or copy it again from where it is whole';
