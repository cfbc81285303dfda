/** Text for a terminal: escaping, colours, and tables. */
import { styleText } from "node:util";
import type { CommandIo } from "./command.ts";

/** Controls (but for ends of lines and tabs), marks of direction, other formatting, halves of characters. */
const UNPRINTABLE = /(?!\n|\t|\r\n)[\p{C}\p{Zl}\p{Zp}]/gu;

/** `text` with such characters as JSON escapes them, which means the same inside a JSON text. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

const LINE_BREAKS: ReadonlyMap<string, string> = new Map([
  ["\r", "\\r"],
  ["\n", "\\n"],
  ["\t", "\\t"],
]);

/** The same in one line: line breaks and tabs are escaped, too. */
export function oneLine(text: string): string {
  return printable(text).replaceAll(/[\r\n\t]/g, (character) => LINE_BREAKS.get(character) ?? "");
}

/** The same, at most `width` characters long. */
export function cutLine(text: string, width: number): string {
  // Cut first, since a foreign name may be very long.
  const characters = [...oneLine(text.slice(0, 4 * width))];
  return characters.length > width ? `${characters.slice(0, width - 1).join("")}…` : characters.join("");
}

/** `value`, which is JSON, with every text in it printable. */
export function printableAll<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === "string" ? printable(each) : each,
  ) as T;
}

/** What `node:util` calls a style. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan" | "none";
/** Colours a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/** Colours only on a terminal whose user did not turn them off (https://no-color.org). */
export function paintFor({ isTerminal, env }: Pick<CommandIo, "isTerminal" | "env">): Paint {
  const coloured = isTerminal && (env["NO_COLOR"] ?? "") === "";
  // Without `validateStream: false`, newer versions of Node decide by their own standard output.
  return (style, text) => (coloured && style !== "none" ? styleText(style, text, { validateStream: false }) : text);
}

export interface Cell {
  readonly text: string;
  readonly style: Style;
}

/** A cell without a colour. */
export function column(text: string): Cell {
  return { text, style: "none" };
}

/** Wider cells do not widen their column. */
const WIDEST = 48;

/** Lines with the cells of `rows` in columns, two spaces before and between them. Colours do not count in widths. */
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
      return paint(style, text) + " ".repeat(Math.max(0, gap));
    });
    return `  ${cells.join("  ")}`;
  });
}
