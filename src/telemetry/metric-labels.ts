/** What does each label of the metrics mean, and how many values can it have? */

/** One label of one or more metrics. */
export interface LabelDefinition {
  readonly name: string;
  readonly means: string;
  /** Which values there can be, whatever clients and upstreams send. */
  readonly values: string;
}

const label = <const Name extends string>(name: Name, means: string, values: string) => ({ name, means, values });

export const API_VERSION = label(
  "api_version",
  "The version that was called",
  "`v1`, `v2`, `sts` (token exchange), `none` (a path of none of them)",
);
export const RESOURCE = label("resource", "What the request is about", "The catalogue's, `unknown`, `other`");
export const OPERATION = label(
  "operation",
  "What is asked of it",
  "The catalogue's for that resource, `unknown`, `other`",
);
export const MODE = label(
  "mode",
  "What served the request",
  "`native`, `shadow`, `translate`, `pass` (v2, untouched), `refused`",
);
export const CODE = label("code", "Status of the answer", "48 registered ones, `none` for no answer, `other`");
export const UPSTREAM = label("upstream", "Who was called", "`v1`, `v2`, `sts`");
export const WORK = label(
  "kind",
  "What the call is for",
  "`short` (a request of one call, or the first page of a list), `page` (a further page), `background` (comparisons)",
);
export const WITNESS = label("witness", "What was proved about the list", "`cover`, `count`, `none`");
export const OUTCOME = label(
  "outcome",
  "How it ended",
  "`complete`, `incomplete`, `too-large`, `too-slow`, `unproven`, `overloaded`, `refused`, `aborted`",
);
export const DIRECTION = label("direction", "Where the field was", "`request`, `response`");
export const FIELD = label("field", "The v1 field", "The catalogue's; beyond the bound of series `other`");
export const PROBLEM = label("reason", "Reason of the error", "Those of [errors.md](errors.md#carryovers-own)");
export const NOTE = label("note", "What was noted", "Words of the code's own; beyond the bound of series `other`");
export const CLIENT = label(
  "client",
  "Who called",
  "Each name of `clients.names`, `c-` and a keyed hash for up to `clients.metricSeries` (200) further clients (`/clients` says who that is), `unknown`, `excluded`, `unauthenticated`, `other`",
);
export const CALLED = label("api_version", "The version that was called", "`v1`, `v2`");
export const RULE = label("rule", "Name of a rule", "Those of the rules file, at most 500");
export const RULE_MODE = label(
  "mode",
  "What the rule does at present",
  "`native`, `shadow`, `translate`, `nothing` (it has expired)",
);
export const RULE_STATE = label("state", "Whether it stepped back", "`forward`, `back`, `returning`");
export const FORCED = label("mode", "What may be forced", "`native`, `translate`");
export const RESULT = label(
  "result",
  "The worst difference",
  "`equal`, `status`, `error`, `missing`, `extra`, `value`, `presence`, `order`, `noise`, `failed` ([cutover.md](cutover.md#shadow-reads))",
);
export const FAILURE = label(
  "reason",
  "Why there was nothing to compare",
  "The 15 of [cutover.md](cutover.md#shadow-reads)",
);
export const PASSED = label("reason", "Why nothing was compared", "`aborted`, `busy`, `unauthenticated`, `status`");
export const VERSION_LABEL = label("version", "carryover's version", "one");
export const NODE_VERSION = label("node", "Node's version", "one");
export const SEMVER = [
  label("version", "Node's version", "one"),
  label("major", "Its parts", "one"),
  label("minor", "Its parts", "one"),
  label("patch", "Its parts", "one"),
] as const;
export const KIND = label("kind", "Kind of collection", "`major`, `minor`, `incremental`, `weakcb`");
export const TYPE = label("type", "What keeps the process busy", "Node's own words, some ten");
export const SPACE = label("space", "Part of the heap", "V8's own, some ten");
