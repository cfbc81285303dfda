/** What stands under this name, where there may be millions of names and no step may take long? */

/** Values by name, to be changed by `put` and `remove` only. One `Map` would be copied as a whole each time it is full. */
export interface Table<T> {
  readonly first: Map<string, T>;
  /** What came when `first` was full. */
  parts: readonly Map<string, T>[] | undefined;
}

/** A `Map` of so many names is copied in less than a millisecond. */
const FEW = 8192;
/** Eight megabytes of JSON have four million names at most: some ten thousand for each part. */
const PARTS = 256;
export function newTable<T>(): Table<T> {
  return { first: new Map(), parts: undefined };
}

/** What stands under `name`. */
export function find<T>({ first, parts }: Table<T>, name: string): T | undefined {
  const found = first.get(name);
  return found !== undefined || parts === undefined ? found : partFor(parts, name).get(name);
}

/** Puts `value`, which is not undefined, under `name`, in the place of what was there. */
export function put<T>(table: Table<T>, name: string, value: T): void {
  const { first, parts } = table;
  if (parts === undefined || first.has(name)) first.set(name, value);
  else partFor(parts, name).set(name, value);
  if (parts === undefined && first.size >= FEW) table.parts = Array.from({ length: PARTS }, () => new Map());
}

export function remove<T>({ first, parts }: Table<T>, name: string): void {
  if (!first.delete(name) && parts !== undefined) partFor(parts, name).delete(name);
}

/** Maps that hold everything, each name once: in the order in which they came as long as they are few. */
export function mapsOf<T>({ first, parts }: Table<T>): readonly ReadonlyMap<string, T>[] {
  return parts === undefined ? [first] : [first, ...parts];
}

/** Of a long name some hundred characters choose its part. */
function partFor<T>(parts: readonly Map<string, T>[], name: string): Map<string, T> {
  const stride = 1 + (name.length >> 8);
  let mixed = name.length;
  for (let at = 0; at < name.length; at += stride) mixed = Math.imul(mixed, 31) + name.charCodeAt(at);
  return parts[mixed & (PARTS - 1)] as Map<string, T>;
}
