/** How does a stranger's text fit into one line of a table, on a terminal, and into a bounded width? */
import { printable } from "../terminal.ts";

const BREAKS: ReadonlyMap<string, string> = new Map([
  ["\r", "\\r"],
  ["\n", "\\n"],
  ["\t", "\\t"],
]);

/** `text` without anything that moves a cursor: such characters as JSON writes them. */
export function oneLine(text: string): string {
  return printable(text).replaceAll(/[\r\n\t]/g, (character) => BREAKS.get(character) ?? "");
}

/** The same, at most `width` characters long. */
export function cutLine(text: string, width: number): string {
  // What is longer than that is cut in any case; a name may be as long as its sender likes.
  const characters = [...oneLine(text.slice(0, 4 * width))];
  return characters.length > width ? `${characters.slice(0, width - 1).join("")}…` : characters.join("");
}
