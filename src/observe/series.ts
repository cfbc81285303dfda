/** How are counts kept by labels so that nobody can make their number grow without end? */

/** Rows by label values; at most `max` of them, and the ones that `overflow` names. */
export interface Series<Row> {
  at(values: readonly string[]): Row;
  rows(): Iterable<readonly [values: readonly string[], row: Row]>;
}

/**
 * `fresh` makes a row for new values. Once `max` rows exist, new values share the rows that `overflow` leads to
 * (design: bounded series); it must come down to few values, by default to one row of nothing but `other`.
 */
export function createSeries<Row>(
  max: number,
  fresh: (values: readonly string[]) => Row,
  overflow: (values: readonly string[]) => readonly string[] = (values) => values.map(() => OTHER),
): Series<Row> {
  const rows = new Map<string, readonly [readonly string[], Row]>();
  const add = (key: string, values: readonly string[]): Row => {
    const row = fresh(values);
    rows.set(key, [values, row]);
    return row;
  };
  return {
    at: (values) => {
      // Labels are cleaned before they come here and hold no line breaks: joined values cannot be mistaken for others.
      const key = values.join("\n");
      const known = rows.get(key);
      if (known !== undefined) return known[1];
      if (rows.size < max) return add(key, values);
      const shared = overflow(values);
      const sharedKey = shared.join("\n");
      return rows.get(sharedKey)?.[1] ?? add(sharedKey, shared);
    },
    rows: () => rows.values(),
  };
}

/** What every unknown label value becomes. */
export const OTHER = "other";
