/** Compares output with what the page shows. (Only its shape: numbers, times and uids differ from run to run.) */

/**
 * Undefined when `text` is what `shown` says, line by line; else what is wrong. `…` stands for anything within a line, and alone
 * for any lines. Numbers, and strings of hexadecimal digits, are the same as any others.
 */
export function differs(text: string, shown: readonly string[]): string | undefined {
  const given = trimmed(text.split("\n"));
  const wanted = trimmed(shown);
  const { fits, reached } = together(given.map(shape), wanted.map(patternOf));
  if (fits) return undefined;
  const line = wanted[reached.wanted];
  const said = given[reached.given] ?? "(nothing more)";
  return line === undefined ? `shows all of it, but it goes on\n  ${said}` : `shows\n  ${line}\nbut it says\n  ${said}`;
}

/** Undefined stands for any lines. */
type Pattern = RegExp | undefined;

function patternOf(line: string): Pattern {
  if (line.trim() === "…" || line.trim() === "...") return undefined;
  return new RegExp(`^${line.split("…").map(shape).map(literal).join(".*")}$`);
}

interface Together {
  readonly fits: boolean;
  /** How far both went together at the most. */
  readonly reached: { readonly given: number; readonly wanted: number };
}

/** `open`: how many of the lines given, from the first, what is wanted so far may stand for. */
function together(given: readonly string[], wanted: readonly Pattern[]): Together {
  let open: ReadonlySet<number> = new Set([0]);
  for (const [index, pattern] of wanted.entries()) {
    const first = Math.min(...open);
    const next =
      pattern === undefined
        ? Array.from({ length: given.length - first + 1 }, (_, more) => first + more)
        : [...open].filter((at) => pattern.test(given[at] ?? "\n")).map((at) => at + 1);
    if (next.length === 0) return { fits: false, reached: { given: first, wanted: index } };
    open = new Set(next);
  }
  return { fits: open.has(given.length), reached: { given: Math.min(...open), wanted: wanted.length } };
}

function trimmed(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line.trim() !== "");
  const first = lines.findIndex((line) => line.trim() !== "");
  return first === -1 ? [] : lines.slice(first, last + 1);
}

function shape(line: string): string {
  return line
    .replaceAll(/(?<![\w])[0-9a-f]{8,}(?![\w])/g, "0")
    .replaceAll(/\d+(?:[.,]\d+)*/g, "0")
    .replaceAll(/\s+/g, " ")
    .trimEnd();
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
