/** Which option did somebody mean who gave one that there is not? (Beside the parser's own guess, which knows misspellings only.) */

const MOST = 5;

/**
 * `message`: the parser's. `options`: long names of that command's. Gives a line to print below it, or an empty text: for
 * `--port` those that end in the same word, else those that have it.
 */
export function optionHint(message: string, options: readonly string[]): string {
  const [, given] = /unknown option '(--[\w-]+)/.exec(message) ?? [];
  if (given === undefined || message.includes("Did you mean")) return "";
  const word = lastWord(given);
  const last = options.filter((option) => lastWord(option) === word);
  const same = last.length > 0 ? last : options.filter((option) => option.slice(2).split("-").includes(word));
  if (same.length === 0 || same.length > MOST) return "";
  return `(Did you mean ${same.length > 1 ? "one of " : ""}${same.join(", ")}?)\n`;
}

function lastWord(option: string): string {
  return option.slice(option.lastIndexOf("-") + 1).toLowerCase();
}
