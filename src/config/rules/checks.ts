/** Do the parts of a rule that are right each by itself also fit together? */

import { NEVER } from "../../cutover/canary.ts";
import { endOf } from "../../cutover/unreachable.ts";
import { everHolds } from "../../cutover/window.ts";
import { EVERY_REQUEST } from "../../model/rules.ts";
import { timeOf } from "./build.ts";
import type { RuleText } from "./schema.ts";

/** One fault about the value at `path` of a rule. `aged`: right when it was written, and over since. */
export interface RuleRemark {
  readonly path: readonly PropertyKey[];
  readonly what: string;
  readonly remedy: string;
  readonly aged?: true;
}

/** What a rule is judged by beside its own text. */
export interface Circumstances {
  readonly native: boolean;
  readonly now: number;
  /** The rule is about reads; undefined when its names are not known. */
  readonly reads: boolean | undefined;
  /** Whether the file itself says how much is compared. */
  readonly saysSample: boolean;
}

/** What makes a rule unusable. */
export function contradictionsOf(rule: RuleText, given: Circumstances): readonly RuleRemark[] {
  return [
    ...(given.native ? [] : withoutNative(rule, given)),
    ...steppingBack(rule, given),
    ...promotion(rule),
    ...times(rule, given.now),
    ...selectors(rule),
    ...told(rule),
  ];
}

const NO_NATIVE = "needs the platform's own v1, and upstream.v1.url is not set";

function withoutNative(rule: RuleText, { saysSample }: Circumstances): readonly RuleRemark[] {
  const found: RuleRemark[] = [];
  if (rule.mode !== "translate") {
    found.push({ path: ["mode"], what: `${rule.mode} ${NO_NATIVE}`, remedy: "set upstream.v1.url, or translate" });
  }
  if (rule.mode === "translate" && rule.stepBack !== undefined) {
    found.push({ path: ["stepBack"], what: `stepping back ${NO_NATIVE}`, remedy: "set upstream.v1.url, or remove it" });
  }
  if (rule.mode === "translate" && saysSample && rule.shadow.sample > 0) {
    found.push({ path: ["shadow"], what: `comparing ${NO_NATIVE}`, remedy: "set upstream.v1.url, or remove it" });
  }
  return found;
}

function steppingBack(
  { stepBack, mode, promoteWhen, shadow }: RuleText,
  { reads }: Circumstances,
): readonly RuleRemark[] {
  if (stepBack === undefined) return [];
  const at = (what: string, remedy: string, ...path: string[]): readonly RuleRemark[] => [
    { path: ["stepBack", ...path], what, remedy },
  ];
  if (mode === "native") return at("has no effect: the rule never translates", "remove it, or translate");
  if (mode === "shadow" && promoteWhen === undefined) {
    return at("has no effect: the rule never translates", "remove it, or add promoteWhen");
  }
  if (stepBack.failures === undefined && stepBack.differences === undefined) {
    return at("says nothing on which to step back", "add failures, differences or both");
  }
  for (const key of ["failures", "differences"] as const) {
    if (stepBack[key] === 1) return at("has no effect: there is no more than all", "name a share below 1", key);
  }
  if (stepBack.differences === undefined) return [];
  if (shadow.sample === 0) {
    return at("is never measured: shadow.sample is 0", "raise shadow.sample, or remove it", "differences");
  }
  if (mode === "translate" && reads === false) {
    return at("is never measured: a translate rule compares reads, and takes none here", "use failures", "differences");
  }
  return [];
}

function promotion({ promoteWhen, mode, shadow }: RuleText): readonly RuleRemark[] {
  if (promoteWhen === undefined) return [];
  if (mode !== "shadow") {
    return [
      { path: ["promoteWhen"], what: `has no effect on a ${mode} rule`, remedy: "remove it, or use mode shadow" },
    ];
  }
  if (shadow.sample > 0) return [];
  return [
    {
      path: ["promoteWhen"],
      what: "is never reached: shadow.sample is 0",
      remedy: "raise shadow.sample, or remove it",
    },
  ];
}

function times({ match, expires }: RuleText, now: number): readonly RuleRemark[] {
  const time = match.time && timeOf(match.time);
  if (time !== undefined && !everHolds(time)) {
    return [
      {
        path: ["match", "time"],
        what: "there is no such moment",
        remedy: "let until be after from, and hours and days lie between them",
      },
    ];
  }
  if (expires !== undefined && time?.from !== undefined && expires <= time.from) {
    return [
      { path: ["expires"], what: "is not after match.time.from: the rule never holds", remedy: "let it expire later" },
    ];
  }
  const path = expires !== undefined && expires <= (time?.until ?? expires) ? ["expires"] : ["match", "time", "until"];
  const end = endOf({ match: { ...EVERY_REQUEST, time }, expires });
  if (end > now) return [];
  const date = new Date(end).toISOString();
  return [
    {
      path,
      what: `${date} is over: the rule takes nothing`,
      remedy: "remove the rule, or name a later date",
      aged: true,
    },
  ];
}

/** A value of theirs would be a secret in a file that is none. */
const CREDENTIALS: readonly string[] = ["authorization", "proxy-authorization"];

function selectors({ match }: RuleText): readonly RuleRemark[] {
  const found: RuleRemark[] = [];
  for (const kind of ["header", "cookie"] as const) {
    if (match[kind]?.value === NEVER) {
      found.push({
        path: ["match", kind],
        what: `${NEVER} always deselects`,
        remedy: "name another value, such as always",
      });
    }
  }
  const name = match.header?.name.toLowerCase() ?? "";
  if (CREDENTIALS.includes(name)) {
    found.push({
      path: ["match", "header"],
      what: `${name} holds credentials`,
      remedy: "use client:, or another header",
    });
  }
  if (name === "cookie")
    found.push({ path: ["match", "header"], what: "cookie holds many", remedy: "use cookie: { name: value }" });
  match.client?.forEach((client) => {
    if (!client.endsWith("*")) return;
    const what = `${JSON.stringify(client)} is taken literally: rules name clients exactly`;
    found.push({ path: ["match", "client"], what, remedy: "name each client" });
  });
  return found;
}

function told({ headers }: RuleText): readonly RuleRemark[] {
  const { deprecation, sunset } = headers ?? {};
  if (deprecation === undefined || sunset === undefined || sunset >= deprecation) return [];
  return [
    {
      path: ["headers", "sunset"],
      what: "is before headers.deprecation",
      remedy: "let v1 be deprecated before it ends",
    },
  ];
}
