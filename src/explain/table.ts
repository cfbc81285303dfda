/** How do rows of words stand under each other? */

/** What `node:util` calls a style. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan" | "none";
/** Colours a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

export interface Cell {
  readonly text: string;
  readonly style: Style;
}

/** A cell without a colour. */
export function column(text: string): Cell {
  return { text, style: "none" };
}

/** Wider columns than this do not push the others further. */
const WIDEST = 48;

/** Lines with the cells of `rows` in columns, two spaces in front and between; widths are counted without colours. */
export function table(rows: readonly (readonly Cell[])[], paint: Paint): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach(({ text }, index) => {
      if (text.length <= WIDEST) widths[index] = Math.max(widths[index] ?? 0, text.length);
    });
  }
  return rows.map((row) => {
    const last = row.findLastIndex(({ text }) => text !== "");
    const cells = row.slice(0, last + 1).map(({ text, style }, index) => {
      const gap = index === last ? 0 : (widths[index] ?? 0) - text.length;
      return (style === "none" ? text : paint(style, text)) + " ".repeat(Math.max(0, gap));
    });
    return `  ${cells.join("  ")}`;
  });
}
