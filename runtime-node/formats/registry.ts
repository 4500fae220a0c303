import type { SampleFormat } from './format.js';
import { mdsFormat } from './mds/mds.js';
import { npyFormat } from './npy/npy.js';
import { parquetFormat } from './parquet/parquet.js';
import { tarFormat } from './tar/tar.js';

/** The formats whose objects are read to be indexed; all else is plain objects, one sample each. */
export const FORMATS: readonly SampleFormat[] = [tarFormat, mdsFormat, parquetFormat, npyFormat];
