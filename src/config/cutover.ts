/** Which options are there for moving clients over? (Design sections 7 and 8.) */
import * as z from "zod";
import { bytes, file, form, listOf, oneOf, onOff, seconds, whole } from "./leaves.ts";

const MiB = 1024 ** 2;

const IDENTITY = "expected user-agent, header:NAME, or claim:NAME (several claims joined by +)";
const CLIENT = "expected a client's name, or the beginning of one and *";
const NAMED = "expected NAME=IDENTITY, such as ci-bot=ci@example.com";
/** Who is who (design section 8). */
export const clients = z.strictObject({
  identify: listOf(
    z.string({ error: IDENTITY }).regex(/^(user-agent|header:[A-Za-z0-9-]{1,64}|claim:[A-Za-z0-9_.:/+-]{1,128})$/, {
      error: IDENTITY,
    }),
    IDENTITY.slice(9),
  )
    .default(["user-agent"])
    .describe(
      "How a client is known, the first that says something counts; tokens are read for it, never believed for access",
    ),
  names: listOf(z.string({ error: NAMED }).regex(/^[a-z0-9][a-z0-9-]{0,62}=.+$/, { error: NAMED }), NAMED.slice(9))
    .default([])
    .describe("Names for identities, for rules, reports and metrics"),
  hash: onOff().prefault("false").describe("Whether identities without a name are kept as keyed hashes only"),
  max: whole(10, 20_000)
    .default(1000)
    .describe(
      "Most clients remembered; beyond them those make room that call v1 least, users of v2 first, and v1 counts say how far they may be off",
    ),
  metricSeries: whole(0, 2000)
    .default(200)
    .describe("Clients without a configured name that have metrics of their own; the rest are other"),
  exclude: listOf(z.string({ error: CLIENT }).regex(/^[\x20-\x7e]{1,128}$/, { error: CLIENT }), CLIENT.slice(9))
    .default([])
    .describe("Clients that are no part of the migration: health checkers, scanners"),
  file: file.optional().describe("File in which the ledger outlives a restart"),
});

/** What comparisons may take up (design section 7). */
export const shadow = z.strictObject({
  concurrent: whole(1, 1000)
    .default(4)
    .describe("Comparisons under way at a time, half of them for one credential; further ones wait, few of them"),
  answerBytes: bytes(1024, 256 * MiB)
    .prefault("8MiB")
    .describe("Longest answer that is compared"),
  memoryBytes: bytes(1024, 4096 * MiB)
    .prefault("64MiB")
    .describe("Most bytes held for comparisons, waiting ones included, half of them for one credential"),
  seconds: seconds(0.1, 58).prefault("20s").describe("Longest time for one comparison"),
  samples: whole(0, 1000).default(20).describe("Differing answers shown per operation at /samples"),
  values: oneOf("redact", "show")
    .default("redact")
    .describe("Whether samples show values, or their types and lengths only"),
});

/** What serves v1 requests (design section 7). */
export const cutover = z.strictObject({
  rulesFile: file.optional().describe("YAML file of rules: what serves which v1 requests; read again when it changes"),
  mode: oneOf("native", "shadow", "translate")
    .default("translate")
    .describe("What serves v1 requests that no rule matches"),
  // A fault never repeats the salt: whoever knows it can try out whom a hash stands for.
  salt: z
    .string({ error: "the salt is no text; expected a text" })
    .max(256, { error: "the salt is longer than 256 characters; expected at most that" })
    .meta(form("salt"))
    .default("")
    .describe("Decides which clients a percentage takes, and keys their hashes; the same on every replica"),
  saltFile: file
    .optional()
    .describe("File with the salt, in place of cutover.salt: so it stands on no command line; read at the start"),
  reloadSeconds: seconds(0.05, 3600).prefault("2s").describe("How often the rules file is looked at"),
});
