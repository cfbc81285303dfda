/** Which characters of a foreign text must not reach a terminal, and what stands there instead? */
import type { Explanation } from "./explanation.ts";

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
