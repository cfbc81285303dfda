/** The keys `schedule` and `brownout` of a rule. */
import * as z from "zod";
import { form, oneOrMany, textLike } from "../rules/leaves.ts";
import { linkLeaf, positiveShare, seconds, whole, yesNo } from "./values.ts";

/** A message that fits into the trailers of gRPC, even if each character takes twelve bytes there. */
const LONGEST_MESSAGE = 500;
const LONGEST_CONTACT = 128;
const LONGEST_WINDOW = 7 * 86_400;

/** Text of one line that people read, without anything that a terminal or a header field takes for a command. */
function plainText(what: string, longest: number) {
  const error = `expected ${what} of 1 to ${longest} characters in one line, without control characters`;
  return z
    .string({ error })
    .regex(/^(?!\s)[^\p{C}\p{Zl}\p{Zp}]+(?<!\s)$/u, { error })
    .max(longest, { error })
    .meta(form("text"));
}

function pattern(expression: RegExp, error: string, name: string) {
  return z.string({ error }).regex(expression, { error }).meta(form(name));
}

export const schedule = z
  .strictObject({
    cron: pattern(
      /^(@(hourly|daily|weekly|monthly)|[0-9A-Za-z*,/#?+-]{1,64}( [0-9A-Za-z*,/#?+-]{1,64}){4})$/,
      'expected five fields (minute hour day month weekday) with one space between them, such as "0 9 * * 2", or @hourly, @daily, @weekly or @monthly',
      "cron",
    ).describe("When windows begin: minute, hour, day of the month, month and weekday"),
    zone: pattern(
      /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/,
      "expected the IANA name of a time zone, such as UTC or Europe/Vienna",
      "zone",
    ).describe("The time zone of cron"),
    duration: seconds(60, LONGEST_WINDOW).describe("Length of each window; more than an hour needs brownout.allowLong"),
  })
  .describe("When a brownout refuses v1; between its windows the rule matches nothing");

const STATUS = "expected 400 or 410";

export const brownout = z
  .strictObject({
    status: z
      .literal([400, 410], { error: STATUS })
      .default(400)
      .meta(form("400|410"))
      .describe(
        "HTTP status of a refusal. Clients may drop their state after 410. Over gRPC it is FAILED_PRECONDITION",
      ),
    message: plainText("a message", LONGEST_MESSAGE)
      .default("v1 is switched off for a short time, to find the clients that still need it")
      .describe("Tells the client's team why it is refused; the window, its end and the contact follow it"),
    successor: linkLeaf
      .optional()
      .describe("Link with rel successor-version: a page about v2, in place of the v2 URL of the request"),
    contact: plainText("a contact", LONGEST_CONTACT)
      .optional()
      .describe("Who answers questions: an e-mail address, a URL or a channel"),
    exempt: oneOrMany(textLike(/^(?! )\P{Cc}{1,256}(?<! )$/u), "a client's name, as /clients shows it", "clients")
      .optional()
      .describe("Clients that are never refused, exactly as the ledger names them"),
    stopAbove: positiveShare
      .default(0.5)
      .describe("The brownout stops when more than this share of v1 requests is refused; 1 never stops it"),
    minRequests: whole(1, 1_000_000).default(100).describe("v1 requests in the window before stopAbove decides"),
    singleReplica: yesNo()
      .default(false)
      .describe("Whether this is the only process that serves v1; required without state.url"),
    allowLong: yesNo().default(false).describe("Whether windows may last for more than an hour, or overlap"),
  })
  .describe("The refusal of a rule with mode: brownout");
