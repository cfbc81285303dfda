/** What may a rules file say, of what type, with which default and limits? (The only home of its keys; design section 7.) */
import * as z from "zod";
import { form, oneOf, seconds, whole } from "../leaves.ts";
import {
  hours,
  instant,
  link,
  oneOrMany,
  percentage,
  positiveShare,
  selector,
  share,
  textLike,
  yesNo,
} from "./leaves.ts";

/** Most rules in a file, and most bytes of one: 500 rules that each use most of what there is. */
export const MAX_RULES = 500;
export const MAX_BYTES = 256 * 1024;

/** In the order of the calendar's numbers: 0 is Sunday. */
export const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

const NAME = "expected a name of a-z, 0-9 and -, at most 63 characters, such as ci-reads";
const CLIENT = "expected a client's name, as /clients shows it";
const word = textLike(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);

const time = z
  .strictObject({
    from: instant.optional().describe("From this instant on"),
    until: instant.optional().describe("Up to this instant, itself excluded"),
    days: oneOrMany((error) => z.enum(DAYS, { error }), `one of ${DAYS.join(", ")}`, "days")
      .optional()
      .describe("On these days (UTC); hours over midnight belong to the day on which they begin"),
    hours: hours.optional().describe("At these hours (UTC), the end excluded"),
  })
  .describe("When the rule holds");

const match = z
  .strictObject({
    resource: oneOrMany(word, "the name of a resource", "resources")
      .optional()
      .describe("Resources, by name or as their paths spell them: group, groups. Without it: all"),
    operation: oneOrMany(word, "an operation, reads or writes", "operations")
      .optional()
      .describe("Operations, by name; reads and writes are groups. Without it: all"),
    client: oneOrMany(textLike(/^(?! )\P{Cc}{1,256}(?<! )$/u), CLIENT.slice(9), "clients")
      .optional()
      .describe("Clients, exactly as the ledger names them. Without it: all"),
    header: selector(/^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/, "{ x-canary: always }")
      .optional()
      .describe("A header field and the value that selects; never deselects, other values leave it to what follows"),
    cookie: selector(/^[\x21\x23-\x3a\x3c-\x5b\x5d-\x7e]{1,256}$/, "{ canary: always }")
      .optional()
      .describe("The same for a cookie"),
    percent: percentage.optional().describe("Share of clients, each always on the same side; 0 switches the rule off"),
    time: time.optional(),
  })
  .describe("Which requests the rule takes: all that is said must hold; {} takes all");

const comparisons = z
  .strictObject({
    sample: share
      .default(0.1)
      .describe(
        "Share of requests that are compared; of a translate rule reads only, and by default none unless stepBack.differences is set",
      ),
    control: share
      .default(0.1)
      .describe(
        "Share of compared reads for which native is asked twice, to know what differs by itself; whatever it says, each difference is looked at twice",
      ),
  })
  .prefault({})
  .describe("How much is compared with native");

const stepBack = z
  .strictObject({
    failures: share
      .optional()
      .describe("Share of requests that fail because of translation, above which the rule steps back"),
    differences: share.optional().describe("Share of comparisons with a difference, above which the rule steps back"),
    minRequests: whole(1, 1_000_000)
      .default(200)
      .describe("Requests (or comparisons) in the window before anything is decided"),
    minClients: whole(1, 100_000).default(3).describe("Clients that must have met it; never more than the rule names"),
    window: seconds(1, 86_400).prefault("5m").describe("How far back is looked"),
    returnAfter: seconds(1, 2_592_000)
      .optional()
      .describe("Quiet time after which a step forward is tried; without it an operator brings it back"),
  })
  .describe("When a translating rule gives up by itself; failures, differences or both");

const promoteWhen = z
  .strictObject({
    differencesBelow: positiveShare.describe("Upper bound (95 %) of the share of differing answers"),
    minClients: whole(1, 100_000)
      .default(3)
      .describe("Clients that must have been compared; never more than the rule names"),
    automatic: yesNo().default(false).describe("Whether it translates then by itself, or only says that it could"),
  })
  .describe("When a shadow rule may translate");

const headers = z
  .strictObject({
    deprecation: instant.optional().describe("Deprecation (RFC 9745): since when v1 is deprecated"),
    sunset: instant.optional().describe("Sunset (RFC 8594): when v1 ends"),
    documentation: link
      .optional()
      .describe("Link with rel deprecation (and rel sunset, when that is given): where people read about it"),
    successor: yesNo().default(true).describe("Link with rel successor-version: the v2 URL of the request"),
  })
  .describe("What clients are told in answers to their requests");

export const RuleSchema = z.strictObject({
  name: z
    .string({ error: NAME })
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: NAME })
    .meta(form("name"))
    .describe("The only rule of this name; a label in metrics"),
  match,
  mode: oneOf("native", "shadow", "translate").describe(
    "Who answers: native v1; native v1, compared in the background; carryover from v2",
  ),
  expires: instant.optional().describe("From then on the rule takes nothing"),
  shadow: comparisons,
  stepBack: stepBack.optional(),
  promoteWhen: promoteWhen.optional(),
  headers: headers.optional(),
});
/** A rule as the file has it: defaults filled in, names not yet looked up. */
export type RuleText = z.output<typeof RuleSchema>;

function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .array(item, { error: "expected a list of rules" })
    .max(MAX_RULES, { error: `expected at most ${MAX_RULES} rules` })
    .describe("In order: the first that takes a request decides");
}

const VERSION = "expected carryover/v1";
export const RulesSchema = z.strictObject({
  version: z.literal("carryover/v1", { error: VERSION }).meta(form("carryover/v1")).describe("Form of this file"),
  force: oneOf("none", "native", "translate")
    .default("none")
    .describe("Overrides every rule and cutover.mode, from the next request on"),
  fallback: oneOf("native", "refuse")
    .optional()
    .describe("Overrides the option fallback: what serves an operation that v2 lacks"),
  endMark: yesNo()
    .default(false)
    .describe("true: the file is refused unless its last line is ..., so that none is taken that was cut off"),
  rules: listOf(RuleSchema),
});
/** The same, whatever its rules are: each is read by itself. */
export const OutlineSchema = RulesSchema.extend({ rules: listOf(z.unknown()) });

/** JSON Schema (draft 2020-12) of the file as people write it. What it cannot say (names, rules that hide others) `readRules` checks. */
export function rulesJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(RulesSchema, {
    io: "input",
    reused: "inline",
    override: ({ jsonSchema }) => {
      if (jsonSchema.type === "object") delete jsonSchema.default;
    },
  });
}
