/** Which characters of a foreign text must not reach a terminal, and what stands there instead? */
import type { Explanation } from "./explain/explanation.ts";

/** Controls (but for ends of lines and tabs), marks of direction, other formatting, halves of characters. */
const UNPRINTABLE = /(?!\n|\t|\r\n)[\p{C}\p{Zl}\p{Zp}]/gu;

/** `text` with such characters as JSON writes them: inside of a JSON text that means the same. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** All texts of an explanation, printable. */
export function printableAll(explanation: Explanation): Explanation {
  const shown: unknown = JSON.parse(JSON.stringify(explanation), (_, value: unknown) =>
    typeof value === "string" ? printable(value) : value,
  );
  return shown as Explanation;
}

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
