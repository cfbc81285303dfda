/** What is wrong with a configuration, where, and what is to be done about it? */

/** One thing that is wrong. */
export interface Fault {
  /** A flag, a variable, `file:line:column path`, or a path when nobody gave a value. */
  readonly where: string;
  readonly what: string;
  readonly remedy: string;
}

/** The remedy for a name that does not exist, given the nearest one that does. */
export function didYouMean(candidate: string | undefined): string {
  return candidate === undefined ? "remove it" : `did you mean ${candidate}?`;
}

/** The candidate most like `name`, upper and lower case, `-` and `_` not distinguished; undefined when none is near. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, "");
  const wanted = plain(name);
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, plain(candidate));
    if (distance <= Math.max(2, wanted.length / 3) && (best === undefined || distance < best.distance)) {
      best = { candidate, distance };
    }
  }
  return best?.candidate;
}

function editDistance(from: string, to: string): number {
  // Keys and names are short; what is longer is near to nothing, and must not cost quadratic time.
  if (Math.max(from.length, to.length) > 100) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const changed = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** One line for a person. */
export function textOf(fault: Fault): string {
  return `${fault.where}: ${fault.what}; ${fault.remedy}`;
}

/** Everything that is wrong with a configuration, at once. */
export class ConfigError extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(["the configuration cannot be used:", ...faults.map((fault) => `  ${textOf(fault)}`)].join("\n"));
    this.name = "ConfigError";
    this.faults = faults;
  }
}
