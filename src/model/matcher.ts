/** How a member of records is compared, where it is not to be the same. */
export interface FieldMatcher {
  readonly resource: string;
  /** v1 path within a record, as in `Difference.path`; the `[]` of a list at its end is left out. */
  readonly path: string;
  /**
   * `ignore`: not compared, nor is anything in it. `set`: a list without order, in which repeats count once. `unordered`: a list without
   * order. `time`: times that are at most `withinMs` apart.
   */
  readonly match: "ignore" | "set" | "unordered" | "time";
  /** Milliseconds; only of `time`. */
  readonly withinMs: number;
}
