/** How does a walkthrough read? (Lines in front of a terminal's edge, and no more of them than somebody reads.) */

const LINES = 18;
/** Of those the last ones: there verdicts stand. */
const LAST = 4;
const COLUMNS = 150;

/** To standard output. */
export function print(text) {
  process.stdout.write(`${text}\n`);
}

/** `text` with `mark` before each line. */
export function indented(text, mark) {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => (mark + line).trimEnd())
    .join("\n");
}

/** A script as somebody types it. */
export function commands(script) {
  return script
    .split("\n")
    .map((line, index, all) => (/(?:\||\\)$/.test(all[index - 1] ?? "") ? `   > ${line}` : `   $ ${line}`))
    .join("\n");
}

/** The first lines and the last, and how many there are between. */
export function shortened(text) {
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => (line.length > COLUMNS ? `${line.slice(0, COLUMNS)}…` : line));
  if (lines.length <= LINES) return lines.join("\n");
  const cut = lines.length - LINES + 1;
  return [...lines.slice(0, LINES - 1 - LAST), `… ${cut} more lines …`, ...lines.slice(-LAST)].join("\n");
}
