/** An operator who knows nothing but what `carryover status` says next, and does that. */
import { readFile, writeFile } from "node:fs/promises";
import { parse, parseDocument } from "yaml";
import type { Change } from "../../../src/fleet/change.ts";
import { DAY, HERE, HOUR, type Weeks } from "./simulated-weeks.ts";

/** What people outside of carryover do, and when: the operator cannot hurry them. */
export interface People {
  /** The platform's team has repaired v2, or what it made of a member. */
  isRepaired(): boolean;
  /** Whoever forced native v1 takes it back. */
  mayLift(): boolean;
}

export interface Step {
  readonly at: number;
  readonly says: string;
  /** What the operator did. */
  readonly did: string;
}

export interface Operator {
  readonly steps: readonly Step[];
  /** Every value that was written, by rule and key, oldest first. */
  readonly written: ReadonlyMap<string, readonly string[]>;
  /** Reads the next step, and takes it. True once it is the last one. */
  look(): Promise<boolean>;
}

/** Longer than a client's team needs to change its code. */
const TO_MOVE = 3 * HOUR;

export function createOperator(weeks: Weeks, people: People): Operator {
  const { rulesPath, time, use } = weeks;
  const steps: Step[] = [];
  const written = new Map<string, string[]>();
  const promises = new Map<string, number>();
  let good = "";
  const save = async (text: string): Promise<void> => {
    await writeFile(rulesPath, text);
    await weeks.reload();
    good = text;
  };
  const note = (key: string, value: string): void => {
    written.set(key, [...(written.get(key) ?? []), value]);
  };
  const write = async (change: Change): Promise<string> => {
    if (change.file !== "rules") throw new Error(`cannot set ${change.paste.join("; ")} while it runs`);
    const text = await readFile(rulesPath, "utf8");
    if (change.paste[0] === "rules:") {
      note(`${change.rule}`, "new");
      await save(text.replace(/^rules: \[\]$/m, change.paste.join("\n")));
    } else if (change.paste[0]?.startsWith("- ")) {
      const indented = change.paste.map((line) => `  ${line}\n`).join("");
      note(`${change.rule}`, "new");
      await save(text + indented);
    } else {
      const values = change.paste.map((line): unknown => parse(line));
      await save(withValues(text, change.rule, values, note));
    }
    return change.paste.join("; ");
  };
  /** A client's team has promised to change its code, and does so a few hours later. */
  const promised = (client: string, then: "without what v2 lacks" | "none"): string => {
    const key = `${client} ${then}`;
    const at = promises.get(key);
    if (at === undefined) {
      promises.set(key, time.now());
      return `asks the team of ${client}`;
    }
    if (time.now() < at + TO_MOVE) return "waits for that team";
    use.set(client, then);
    return `the team of ${client} has changed it`;
  };
  const rename = async (rule: string): Promise<string> => {
    const text = await readFile(rulesPath, "utf8");
    await save(text.replace(`- name: ${rule}\n`, `- name: ${rule}-2\n`));
    note(`${rule}-2`, "renamed");
    return `renames the rule ${rule}-2`;
  };
  /** Sentences for people, and what a person does. The first that fits. */
  const answers: readonly [RegExp, (...found: [string, string, string]) => Promise<string> | string][] = [
    [/^wait /, () => "waits"],
    [/^remove carryover: /, () => "removes carryover"],
    [/^find out why v2 fails/, () => "asks the platform's team"],
    [
      /^find out why the translation of (\S+) differs/,
      (rule) => (people.isRepaired() ? rename(rule) : "asks the platform's team"),
    ],
    [
      /^correct the rules file of (.*)/,
      async (fault) => {
        if ((await readFile(rulesPath, "utf8")) === good)
          throw new Error(`what it was told to write is refused: ${fault}`);
        await save(good);
        return "puts the rules file right";
      },
    ],
    [
      /^(?:ask \S+, and )?see with carryover check .*; then carryover force none/,
      async () => {
        if (!people.mayLift()) return "v2 is not well";
        return (await weeks.run("force", "none", HERE, "--reason", "v2 is well", "--by", "robot")).out.trim();
      },
    ],
    [
      /^let rule (\S+) match more, or go on without the proof \(([\w.]+): (\w+)\)/,
      async (rule, key, value) => {
        const text = await readFile(rulesPath, "utf8");
        const values = key.split(".").reduceRight((inner: unknown, name) => ({ [name]: inner }), parse(value));
        await save(withValues(text, rule, [values], note));
        return `decides that ${rule} goes on without the proof: ${key}: ${value}`;
      },
    ],
    [/^move (\S+) (?:\(.*?\) )?to v2, /, (client) => promised(client, "none")],
    [/^agree with (\S+) (?:\(.*?\) )?on a way without /, (client) => promised(client, "without what v2 lacks")],
  ];
  return {
    steps,
    written,
    look: async () => {
      const { out, err } = await weeks.run("status", HERE, "--json");
      if (out === "") throw new Error(err);
      const status: { readonly next: string; readonly change: Change | null } = JSON.parse(out);
      const { next, change } = status;
      const answer = answers.find(([words]) => words.test(next));
      if (change === null && answer === undefined) throw new Error(`no person knows what to do: ${next}`);
      const [, first = "", second = "", third = ""] = answer?.[0].exec(next) ?? [];
      const did = change === null ? await answer?.[1](first, second, third) : `writes ${await write(change)}`;
      steps.push({ at: time.now(), says: next, did: did ?? "" });
      return next.startsWith("remove carryover: ");
    },
  };
}

/** The rules file with the values in the rule of that name; null: at the top. */
function withValues(
  text: string,
  rule: string | null,
  values: readonly unknown[],
  note: (key: string, value: string) => void,
): string {
  const file = parseDocument(text);
  const rules: readonly { readonly name: string }[] = file.toJS().rules ?? [];
  const at = rules.findIndex(({ name }) => name === rule);
  if (rule !== null && at === -1) throw new Error(`there is no rule ${rule}`);
  const set = (path: readonly string[], value: unknown): void => {
    if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) set([...path, key], inner);
      return;
    }
    note(`${rule} ${path.join(".")}`, String(value));
    file.setIn(rule === null ? path : ["rules", at, ...path], value);
  };
  for (const one of values) set([], one);
  return file.toString();
}

/** The longest time for which the operator saw the same sentence, but for its numbers, in days. Waits that name their end are left out. */
export function longestStandstill(steps: readonly Step[]): { readonly days: number; readonly says: string } {
  let longest = { days: 0, says: "" };
  let since = steps[0]?.at ?? 0;
  for (const [index, { at, says }] of steps.entries()) {
    const before = steps[index - 1];
    const isSame = before !== undefined && kindOf(before.says) === kindOf(says);
    if (!isSame) since = at;
    const days = (at - since) / DAY;
    if (/^wait until \d{4}-/.test(says) || days <= longest.days) continue;
    longest = { days, says };
  }
  return longest;
}

function kindOf(says: string): string {
  return says.replaceAll(/\d[\d.:]*Z?/g, "N");
}
