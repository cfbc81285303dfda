/** A step for people: a sentence, and what is to be written into the rules file or the configuration, ready to paste. */

export interface Next {
  /** One sentence without a full stop. */
  readonly says: string;
  /** What to write. Null where there is nothing to write, or where a person must decide what. */
  readonly change: Change | null;
}

export interface Change {
  readonly file: "rules" | "configuration";
  /** Null: the top of the file. */
  readonly rule: string | null;
  /** As the file has it: `match.percent`. */
  readonly key: string;
  readonly value: string | number;
  /** The same as lines of YAML, ready to paste. */
  readonly paste: readonly string[];
}

/** A step for which nothing is to be written, or a person must decide what. */
export function person(says: string): Next {
  return { says, change: null };
}

/** Of the configuration. */
export function option(key: string, value: string | number): Change {
  return { file: "configuration", rule: null, key, value, paste: yamlOf([[key, value]]) };
}

export type Pair = readonly [key: string, value: string | number];

/** The first key of a rule to write, and others with it. */
export function ofRule(rule: string, pairs: readonly [Pair, ...Pair[]]): Change {
  const [[key, value]] = pairs;
  return { file: "rules", rule, key, value, paste: yamlOf(pairs) };
}

/** `match: { percent: 25 }` of `match.percent`. */
function yamlOf(pairs: readonly Pair[]): readonly string[] {
  return pairs.map(([key, value]) => {
    const [last = key, ...outer] = key.split(".").toReversed();
    return outer.reduce((inner, name) => `${name}: { ${inner} }`, `${last}: ${value}`);
  });
}

/** Where to write a change, and what: `in match of rule reads: percent: 25`, since `match` has other keys. Empty without one. */
export function changeLines(change: Change | null): readonly string[] {
  if (change === null) return [];
  const { file, rule, paste } = change;
  if (paste[0] === "rules:") return ["in the rules file, in place of its rules:", ...paste.map((line) => `  ${line}`)];
  if (paste[0]?.startsWith("- ")) return ["at the end of the rules file:", ...paste.map((line) => `  ${line}`)];
  const place = rule === null ? `the ${file === "rules" ? "rules file" : "configuration"}` : `rule ${rule}`;
  return paste.map((line) => {
    const [, outer, inner] = /^(\w+): \{ (.*) \}$/.exec(line) ?? [];
    return outer === undefined ? `in ${place}: ${line}` : `in ${outer} of ${place}: ${inner}`;
  });
}
