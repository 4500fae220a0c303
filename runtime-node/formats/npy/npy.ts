import { folderLabel } from '../../manifest/object-rows.js';
import type { ListedObject } from '../../s3/listing.js';
import type { IndexPlan, IndexUnit, RangeReader, SampleFormat, SampleRow, UnitNote } from '../format.js';
import { badShard, countedKeys, unsupportedData } from '../format-error.js';
import { itemBytes } from './dtype.js';
import { headerRange, NPY_START_BYTES, type NpyHeader, NpyHeaderError, parseHeader } from './header.js';

/** Bytes of the first read: NumPy's headers are 128 bytes long, those of structured types more. */
const FIRST_READ_BYTES = 1024;
const MEND = 'write it again with numpy.save(), or leave it out of the prefix';

/**
 * Raw tensors: each `.npy` file is one sample, its range the data behind the header, so that what lands is the tensor in C order.
 * One request of 1 KiB a file, a second one where the header is longer. The label is the folder, as for plain objects.
 */
export const npyFormat: SampleFormat = {
  name: 'npy',
  claims: isNpy,
  refuses: isArchive,
  async plan(objects) {
    return planNpy(objects);
  },
};

function isNpy(key: string): boolean {
  return /\.npy$/i.test(key);
}

function isArchive(key: string): boolean {
  return /\.npz$/i.test(key);
}

function planNpy(objects: readonly ListedObject[]): IndexPlan {
  const units = objects
    .filter(({ key }) => isNpy(key))
    .map((object): IndexUnit => ({ object, rows: (...work) => rowsOf(object, ...work) }));
  const archives = objects.filter(({ key }) => isArchive(key)).map(({ key }) => key);
  if (units.length === 0 && archives[0] !== undefined) {
    throw unsupportedData(
      archives[0],
      'a .npz file is an archive of arrays, and is not read',
      'write each array to a .npy file of its own: numpy.save(name, archive[name])',
    );
  }
  const notes: string[] = [];
  if (archives.length > 0)
    notes.push(
      `left out: ${countedKeys(archives, '.npz archive', '.npz archives')}; only .npy files are read`,
    );
  const others = objects
    .filter(({ key, sizeBytes }) => !/\.np[yz]$/i.test(key) && !(sizeBytes === 0 && key.endsWith('/')))
    .map(({ key }) => key);
  if (others.length > 0)
    notes.push(
      `left out: ${countedKeys(others, 'object that is no .npy file', 'objects that are no .npy files')}`,
    );
  return { units, notes };
}

async function* rowsOf(
  object: ListedObject,
  reader: RangeReader,
  signal?: AbortSignal,
  note?: UnitNote,
): AsyncGenerator<SampleRow[]> {
  const header = await readHeader(object, reader, signal);
  const { dtype, shape, dataOffset } = header;
  const length = tensorBytes(object, header);
  if (dataOffset + length > object.sizeBytes) {
    throw badShard(
      object,
      dataOffset,
      `its header says ${dtype} of shape (${shape.join(', ')}), ${length} bytes, and ${object.sizeBytes - dataOffset} bytes follow`,
      'it was cut off: write or upload it again',
    );
  }
  if (dataOffset + length < object.sizeBytes)
    note?.('bytes after the tensor are not part of the sample', object.key);
  yield [
    {
      key: object.key,
      offset: dataOffset,
      length,
      etag: object.etag,
      objectSizeBytes: object.sizeBytes,
      label: folderLabel(object.key),
      fields: null,
      width: null,
      height: null,
      dtype,
      shape,
    },
  ];
}

async function readHeader(
  object: ListedObject,
  reader: RangeReader,
  signal?: AbortSignal,
): Promise<NpyHeader> {
  try {
    if (object.sizeBytes === 0) throw new NpyHeaderError(0, 'it is empty');
    let start = await reader.read(object, 0, Math.min(FIRST_READ_BYTES, object.sizeBytes), signal);
    const { to } = headerRange(start.subarray(0, NPY_START_BYTES));
    // A header that is said to be longer than the file is told as such, and not asked for.
    if (to > start.length && to <= object.sizeBytes) start = await reader.read(object, 0, to, signal);
    return parseHeader(start);
  } catch (error) {
    if (!(error instanceof NpyHeaderError)) throw error;
    throw badShard(object, error.byte, error.message, MEND);
  }
}

function tensorBytes(object: ListedObject, { dtype, shape, fortranOrder }: NpyHeader): number {
  if (dtype === null) {
    throw unsupportedData(
      object.key,
      'its type is a structured one, which has no name to put in the manifest',
      'save one array for each field, or a view as bytes: numpy.save(path, array.view(numpy.uint8))',
    );
  }
  if (/^[|<>=]?O/.test(dtype)) {
    throw unsupportedData(
      object.key,
      'it holds pickled Python objects (dtype object), not a tensor',
      'save an array of numbers: numpy.save(path, array.astype(numpy.float32), allow_pickle=False)',
    );
  }
  const item = itemBytes(dtype);
  if (item === null)
    throw badShard(object, 10, `its header has the unknown type ${JSON.stringify(dtype)}`, MEND);
  // In one dimension, both orders are the same.
  if (fortranOrder && shape.filter((side) => side !== 1).length > 1) {
    throw unsupportedData(
      object.key,
      'its data are in Fortran order, so that what lands would be the tensor with its dimensions the other way round',
      'save it in C order: numpy.save(path, numpy.ascontiguousarray(array))',
    );
  }
  const length = shape.reduce((product, side) => product * side, item);
  if (Number.isSafeInteger(length)) return length;
  throw badShard(object, 10, `its header says a shape of (${shape.join(', ')}), more than 2^53 bytes`, MEND);
}
