/** How do rows read that a client can set elsewhere, where they are only shown? */
import type { Row } from "../../model/resource.ts";

/** The same rows, never sent: the message around them is part of an answer alone. */
export function shownOnly(rows: readonly Row[]): readonly Row[] {
  return rows.map((row): Row => {
    if (row.access === "output") return row;
    const { zero: _, mask: __, echo: ___, required: ____, ...rest } = row;
    return { ...rest, access: "output" };
  });
}
