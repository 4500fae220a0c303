import type { Field } from 'apache-arrow/fb/field';
import { Int } from 'apache-arrow/fb/int';
import { Type } from 'apache-arrow/fb/type';
import { Union } from 'apache-arrow/fb/union';
import { UnionMode } from 'apache-arrow/fb/union-mode';

export interface IntType {
  bits: 8 | 16 | 32 | 64;
  signed: boolean;
}

/** A column of the schema, as far as reading needs it. */
export interface ArrowField {
  name: string;
  type: Type;
  /** Set for integers. */
  int: IntType | null;
  /** Set for a dictionary-encoded column; `type` is then the dictionary's values' type. */
  dictionary: { id: bigint; index: IntType } | null;
  /** How many buffers the column itself has in a record batch, variadic ones and children aside. */
  buffers: number;
  hasVariadicBuffers: boolean;
  children: ArrowField[];
}

const MAX_DEPTH = 64;
/** Buffers of the types where it is not two (validity and values). */
const BUFFERS: Partial<Record<Type, number>> = {
  [Type.Null]: 0,
  [Type.Binary]: 3,
  [Type.LargeBinary]: 3,
  [Type.Utf8]: 3,
  [Type.LargeUtf8]: 3,
  [Type.Struct_]: 1,
  [Type.FixedSizeList]: 1,
  [Type.RunEndEncoded]: 0,
  [Type.ListView]: 3,
  [Type.LargeListView]: 3,
};
const NAMES: Partial<Record<Type, string>> = {
  [Type.Utf8]: 'utf8',
  [Type.LargeUtf8]: 'large_utf8',
  [Type.Utf8View]: 'utf8_view',
  [Type.FloatingPoint]: 'float',
  [Type.Struct_]: 'struct',
};
const V5 = 4;

export function decodeField(field: Field, version: number, depth = 0): ArrowField {
  if (depth > MAX_DEPTH) throw new RangeError(`its schema is nested more than ${MAX_DEPTH} deep`);
  const type = field.typeType();
  if (Type[type] === undefined || type === Type.NONE)
    throw new RangeError(`its schema has an unknown type ${type}`);
  const encoding = field.dictionary();
  const index = encoding === null ? null : encoding.indexType();
  const children: ArrowField[] = [];
  for (let i = 0; i < field.childrenLength(); i++) {
    const child = field.children(i);
    if (child === null) throw new RangeError('its schema has a column without type');
    children.push(decodeField(child, version, depth + 1));
  }
  return {
    name: field.name() ?? '',
    type,
    int: type === Type.Int ? decodeInt(field.type(new Int())) : null,
    dictionary:
      encoding === null
        ? null
        : { id: encoding.id(), index: index === null ? { bits: 32, signed: true } : decodeInt(index) },
    buffers: buffersOf(field, type, version),
    hasVariadicBuffers: type === Type.BinaryView || type === Type.Utf8View,
    children,
  };
}

/** The type in words, as pyarrow would nearly say it. */
export function typeName(field: ArrowField): string {
  const int = field.int;
  const plain =
    int === null
      ? (NAMES[field.type] ?? Type[field.type].toLowerCase())
      : `${int.signed ? '' : 'u'}int${int.bits}`;
  return field.dictionary === null ? plain : `dictionary of ${plain}`;
}

function decodeInt(int: Int | null): IntType {
  const bits = int?.bitWidth();
  if (int === null || !(bits === 8 || bits === 16 || bits === 32 || bits === 64)) {
    throw new RangeError(`its schema has an integer of ${bits} bits`);
  }
  return { bits, signed: int.isSigned() };
}

function buffersOf(field: Field, type: Type, version: number): number {
  if (type !== Type.Union) return BUFFERS[type] ?? 2;
  const union: Union | null = field.type(new Union());
  // Before V5 unions had a validity buffer, too.
  return (union?.mode() === UnionMode.Dense ? 2 : 1) + (version < V5 ? 1 : 0);
}
