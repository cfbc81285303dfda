/** One check, limit or setting whose loss would not show in ordinary use. */
export interface Guard {
  /** What it guards: the promise that ends with it. */
  readonly name: string;
  readonly file: string;
  /** Its text, which stands in the file exactly once. */
  readonly old: string;
  /** What stands there without it. */
  readonly other: string;
  /** The files of tests that must notice, the quickest first. */
  readonly tests: readonly string[];
}

/** Guards of one file. */
export function guards(
  file: string,
  tests: readonly string[],
  list: readonly (readonly [name: string, old: string, other: string, tests?: readonly string[]])[],
): readonly Guard[] {
  return list.map(([name, old, other, own]) => ({ name, file, old, other, tests: own ?? tests }));
}
