/** The schema of a rules file: every key with type, default, limits and description. */
import * as z from "zod";
import { FORCES, GUARD_ACTIONS } from "../model/rules.ts";
import { form, instantLeaf } from "../rules/leaves.ts";
import { MATCH_SHAPE } from "../rules/rule.ts";
import { Mode } from "../rules/status.ts";
import { brownout, schedule } from "./brownout-schema.ts";
import { linkLeaf, oneOf, positiveShare, seconds, shareLeaf, whole, yesNo } from "./values.ts";

/** Limits of a file: 500 large rules fit. */
export const MAX_RULES = 500;
export const MAX_BYTES = 256 * 1024;

const NAME = "expected a name of a-z, 0-9 and -, at most 63 characters, such as ci-reads";
const match = z
  .strictObject(MATCH_SHAPE)
  .describe("Which requests the rule matches: all conditions must hold; {} matches all");

const comparisons = z
  .strictObject({
    sample: shareLeaf
      .default(0.1)
      .describe(
        "Share of requests to compare. A translate rule compares reads only, and by default none unless stepBack.differences is set",
      ),
    control: shareLeaf
      .default(0.1)
      .describe(
        "Share of equal reads for which native is asked twice, to measure its noise; every difference is checked twice anyway",
      ),
  })
  .prefault({})
  .describe("How much to compare with native v1");

const stepBack = z
  .strictObject({
    failures: shareLeaf
      .optional()
      .describe("Step back when more than this share of requests fails because of translation"),
    differences: shareLeaf.optional().describe("Step back when more than this share of comparisons differs"),
    minRequests: whole(1, 1_000_000).default(200).describe("Translated requests in the window before failures decide"),
    minComparisons: whole(1, 1_000_000).default(20).describe("Comparisons in the window before differences decide"),
    minClients: whole(1, 100_000).default(3).describe("Clients that must be affected; never more than the rule names"),
    window: seconds(1, 86_400).prefault("5m").describe("Length of the observed period"),
    returnAfter: seconds(1, 2_592_000)
      .optional()
      .describe("Quiet time before the rule tries again; without it, only an operator brings it back"),
  })
  .describe("When a translating rule steps back by itself: failures, differences or both");

/** A map that may be written as the value of one of its keys. */
const shortened = <Shape extends z.ZodRawShape>(map: z.ZodObject<Shape>, key: string & keyof Shape, values: string[]) =>
  z.preprocess(
    (value) => (typeof value === "string" ? { [key]: value } : value),
    map.meta({ "x-short": `^(${values.join("|")})$` }),
  );

const guard = shortened(
  z.strictObject({
    action: oneOf(...GUARD_ACTIONS)
      .default("stepBack")
      .describe("How a translating rule reacts when v2 fails clients that native v1 would have served"),
    returnAfter: seconds(1, 2_592_000)
      .prefault("15m")
      .describe("Time without a failure of v2 before the rule tries again"),
    slow: oneOf("warn", "stepBack")
      .default("warn")
      .describe("Its reaction when v2 is three times slower than native v1, and by more than 500 ms"),
  }),
  "action",
  [...GUARD_ACTIONS],
)
  .prefault({})
  .describe("Whether v2 fails clients that native v1 would have served; guard: warn is short for its action");

const STATUSES = "expected a list of 401, 403 and 429, such as [401, 403]";
const onFailure = shortened(
  z.strictObject({
    serve: oneOf("native").default("native").describe("What serves a read that v2 fails, in the same request"),
    statuses: z
      .array(z.literal([401, 403, 429], { error: STATUSES }), { error: STATUSES })
      .default([])
      .meta(form("[401, 403, 429]"))
      .describe("Statuses of v2 that count as failures too; those from 500 always do"),
  }),
  "serve",
  ["native"],
).describe("Serve reads that v2 fails from native v1; onFailure: native is short for its serve");

const promoteWhen = z
  .strictObject({
    differencesBelow: positiveShare.describe("Upper bound (95 %) of the share of differing responses"),
    minClients: whole(1, 100_000)
      .default(3)
      .describe("Clients that must have been compared; never more than the rule names"),
    automatic: yesNo()
      .default(false)
      .describe("Whether the rule then translates by itself, or only reports that it could"),
  })
  .describe("When a shadow rule may translate");

const headers = z
  .strictObject({
    deprecation: instantLeaf.optional().describe("Deprecation (RFC 9745): since when v1 is deprecated"),
    sunset: instantLeaf.optional().describe("Sunset (RFC 8594): when v1 ends"),
    documentation: linkLeaf
      .optional()
      .describe("Link with rel deprecation (and rel sunset, if given): a page to read about it"),
    successor: yesNo().default(true).describe("Link with rel successor-version: the v2 URL of the request"),
  })
  .describe("Response headers that announce the end of v1");

export const RuleSchema = z.strictObject({
  name: z
    .string({ error: NAME })
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: NAME })
    .meta(form("name"))
    .describe("Unique name of the rule; a label in metrics"),
  match,
  mode: oneOf(...Mode.options).describe(
    "What responds: native v1; native v1, compared in the background; carryover from v2; brownout: a refusal, in the windows of schedule only",
  ),
  expires: instantLeaf.optional().describe("From then on the rule matches nothing"),
  shadow: comparisons,
  stepBack: stepBack.optional(),
  guard,
  onFailure: onFailure.optional(),
  fallback: oneOf("refuse")
    .optional()
    .describe(
      "A rehearsal: native v1 is off for the one client that match names, until expires; what cannot be translated is refused with 501",
    ),
  promoteWhen: promoteWhen.optional(),
  headers: headers.optional(),
  schedule: schedule.optional(),
  brownout: brownout.optional(),
});
/** A rule as the file has it: with defaults, before its names are looked up. */
export type RuleText = z.output<typeof RuleSchema>;

function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .array(item, { error: "expected a list of rules" })
    .max(MAX_RULES, { error: `expected at most ${MAX_RULES} rules` })
    .describe("In order: the first matching rule decides");
}

const VERSION = "expected carryover/v1";
export const RulesSchema = z.strictObject({
  version: z.literal("carryover/v1", { error: VERSION }).meta(form("carryover/v1")).describe("Format of this file"),
  force: oneOf(...FORCES)
    .default("none")
    .describe("Overrides every rule and cutover.mode, from the next request on"),
  fallback: oneOf("native", "refuse")
    .optional()
    .describe("Overrides the option fallback: what serves an operation that v2 lacks"),
  endMark: yesNo()
    .default(false)
    .describe("true: refuse the file unless its last line is ..., so that a truncated file is never applied"),
  rules: listOf(RuleSchema),
});
/** The same with unread rules: each rule is parsed by itself. */
export const OutlineSchema = RulesSchema.extend({ rules: listOf(z.unknown()) });

/** JSON Schema (draft 2020-12) of the file. `readRules` checks what it cannot express: names, and unreachable rules. */
export function rulesJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(RulesSchema, {
    io: "input",
    reused: "inline",
    override: ({ jsonSchema }) => {
      if (jsonSchema.type === "object") delete jsonSchema.default;
      const short = jsonSchema["x-short"];
      if (typeof short !== "string") return;
      delete jsonSchema["x-short"];
      delete jsonSchema.default;
      const node: Record<string, unknown> = jsonSchema;
      node["type"] = ["object", "string"];
      node["pattern"] = short;
    },
  });
}
