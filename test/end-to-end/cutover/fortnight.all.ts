/** A whole migration in simulated time, by an operator who only follows what carryover says is next. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { createOperator, longestStandstill, type Operator } from "./operator.ts";
import { DAY, HERE, HOUR, START, simulatedWeeks, type Weeks } from "./simulated-weeks.ts";

takeDownAfterEach();

const at = (day: number, hour: number, minute = 0) => START + day * DAY + hour * HOUR + minute * 60_000;
const shown = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace("T", " ");

const WRONG_ROW = [at(1, 8), at(2, 8)] as const;
const OUTAGE = [at(3, 2, 10), at(3, 2, 30)] as const;
const BROKEN_FILE = at(4, 10);
const RESTART = at(5, 12);
const FORCED = at(6, 15);
/** Two weeks of work, and two weeks without a call of v1 before its removal. */
const LONGEST_DAYS = 35;

/** What an operator asks, when, and with which command. */
const QUESTIONS: readonly (readonly [when: number, question: string, ...command: string[]])[] = [
  [at(1, 12), "how far are we, and what is next, on day 1?", "status", HERE],
  [at(1, 12), "who still calls v1, and who owns it?", "report", HERE],
  [at(1, 12), "may this rule go further?", "gate", "roles", HERE],
  [at(3, 4), "which client breaks, and why?", "report", HERE],
  [at(3, 9), "what happened last night between 02:00 and 03:00?", "events", HERE, "--from", "02:00", "--to", "03:00"],
  [at(3, 9), "can I switch off repo?", "report", HERE, "--resource", "repo", "--fail-if-v1"],
  [at(3, 9), "what do I tell 40 teams?", "way-out", "--all", "DIR", HERE],
  [at(3, 9), "why was this refused?", "explain", "GET /iam/v1/groups//team", "RULES", "FLAGS"],
  [at(6, 16), "what happened today?", "events", HERE, "--from", "00:00"],
  [at(8, 12), "how far are we, and what is next, on day 8?", "status", HERE],
  [
    at(8, 12),
    "what happened in that night?",
    "events",
    HERE,
    "--from",
    "2026-12-03T02:00Z",
    "--to",
    "2026-12-03T03:00Z",
  ],
];

interface Story {
  readonly weeks: Weeks;
  readonly operator: Operator;
  readonly diary: string[];
  /** Output by question. */
  readonly answers: Map<string, string>;
}

async function ask({ weeks, diary, answers }: Story, question: string, command: readonly string[]): Promise<void> {
  const words = command.flatMap((word) => {
    if (word === "DIR") return [join(dirname(weeks.rulesPath), "teams")];
    if (word === "RULES") return ["--rules", weeks.rulesPath];
    return word === "FLAGS" ? weeks.flags : [word];
  });
  const { code, out, err } = await weeks.run(...words);
  answers.set(question, out);
  const index = words.includes("way-out") ? await readFile(join(dirname(weeks.rulesPath), "teams", "index.md")) : "";
  diary.push(
    `\n== ${shown(weeks.time.now())} ${question}\n$ carryover ${words.join(" ")} [${code}]\n${out}${err}${index}==\n`,
  );
}

/** What happens to the migration from outside at this hour. */
async function accidents({ weeks }: Story, now: number): Promise<void> {
  if (now === BROKEN_FILE) {
    await writeFile(weeks.rulesPath, "version: carryover/v1\nrules:\n  - name: groups\n    mode: translat\n");
    await weeks.reload();
  }
  if (now === RESTART) await weeks.restart();
  if (now === FORCED) await weeks.run("force", "native", HERE, "--reason", "v2 loses writes", "--by", "anna");
}

async function live(story: Story): Promise<void> {
  const { weeks, operator, diary } = story;
  let last = "";
  for (let isDone = false; !isDone; ) {
    const now = weeks.time.now();
    if (now > at(LONGEST_DAYS, 0)) throw new Error(`not over after ${LONGEST_DAYS} days`);
    for (const [when, question, ...command] of QUESTIONS) if (when === now) await ask(story, question, command);
    await accidents(story, now);
    await weeks.hour(now === at(3, 2));
    isDone = await operator.look();
    const { says = "", did = "" } = operator.steps.at(-1) ?? {};
    const line = `${says}\n                 => ${did}`;
    if (line.replaceAll(/[\d.]+/g, "") !== last) diary.push(`${shown(weeks.time.now())} ${line}`);
    last = line.replaceAll(/[\d.]+/g, "");
  }
  await ask(story, "can I switch off all of it?", ["report", HERE, "--since", "7d", "--fail-if-v1"]);
}

it("a migration ends with carryover's removal when an operator does what is next, and nothing else", async () => {
  const weeks = await simulatedWeeks("version: carryover/v1\nrules: []\n", { outage: OUTAGE, wrongRow: WRONG_ROW });
  const operator = createOperator(weeks, {
    isRepaired: () => weeks.time.now() >= WRONG_ROW[1],
    mayLift: () => weeks.time.now() >= FORCED + 2 * HOUR,
  });
  const story: Story = { weeks, operator, diary: [], answers: new Map() };
  await mkdir(join(dirname(weeks.rulesPath), "teams"));
  try {
    await live(story);
  } finally {
    const days = [...weeks.days].map(
      ([day, modes]) => `day ${day}: ${[...modes].map((mode) => mode.join(" ")).join(", ")}`,
    );
    console.log([...story.diary, `${weeks.sent()} requests`, ...days].join("\n"));
  }
  // A standstill that nobody can end, or a step that undoes another.
  const { days, says } = longestStandstill(operator.steps);
  expect(days, says).toBeLessThanOrEqual(3);
  for (const values of operator.written.values()) expect(new Set(values).size).toBe(values.length);
  const night = story.answers.get("what happened last night between 02:00 and 03:00?") ?? "";
  expect(night).toMatch(
    /02:[123]\d:\d\dZ {2}stepped-back +rule groups .* v2 failed \d+ of \d+ requests .* native v1 served/,
  );
  // Between the two questions was a restart.
  expect(story.answers.get("what happened in that night?")).toBe(night);
  expect(story.answers.get("what happened today?")).toMatch(
    /15:00:00Z {2}forced +none -> native .* v2 loses writes, by anna\n/,
  );
  const lastDay = [...weeks.days.values()].at(-1) ?? new Map();
  expect([...lastDay.keys()]).toEqual(["translate"]);
}, 300_000);

const PERCENTAGES = `version: carryover/v1
rules:
  - name: everything
    match: {}
    mode: shadow
    promoteWhen: { differencesBelow: 0.02, minClients: 20 }
`;

it("a rule with promoteWhen goes all the way to its last client in the same way", async () => {
  const never = [0, 0] as const;
  const weeks = await simulatedWeeks(PERCENTAGES, { outage: never, wrongRow: never });
  const operator = createOperator(weeks, { isRepaired: () => true, mayLift: () => true });
  while (operator.steps.at(-1)?.says.startsWith("move ") !== true) {
    if (weeks.time.now() > at(10, 0)) throw new Error(JSON.stringify(operator.steps.slice(-50)));
    await weeks.hour(false);
    await operator.look();
  }
  expect(Object.fromEntries(operator.written)).toEqual({
    "everything shadow.sample": ["1", "0.1"],
    "everything promoteWhen.minClients": ["10"],
    "everything mode": ["translate"],
    "everything onFailure": ["native"],
    "everything match.percent": ["19", "29", "50", "100"],
  });
}, 300_000);
