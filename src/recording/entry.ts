/** One recorded request, and what of a request may be recorded. */
import { maskedJson } from "../json/mask.ts";
import type { Exchange, Mode } from "../model/exchange.ts";
import { pathOf } from "../model/http.ts";
import type { Operation, Resource } from "../model/resource.ts";
import { MASKED, shownTarget, withoutTokens } from "../model/secrets.ts";
import { camelCase } from "../model/text.ts";

/** A line of a recording. Other logs lack some of its members. */
export interface RecordedRequest {
  /** Milliseconds since 1970; undefined where the log does not say it. */
  readonly at: number | undefined;
  readonly method: string;
  /** Path and query; `…` replaces redacted parts. */
  readonly target: string;
  /** As the log names it; empty where it does not. */
  readonly client: string;
  /** 0 where the log does not say it. */
  readonly status: number;
  readonly mode: Mode | undefined;
  /** Only of writes, and only with `record.bodies`. */
  readonly body?: string | undefined;
}

/** A line in place of requests that are missing. */
export interface RecordedGap {
  /** Requests that are missing here. */
  readonly left: number;
  /** `rate`: `record.perSecond`. `disk`: the file could not be written. */
  readonly why: "rate" | "disk";
}

/** Whether values of filters that may be personal are kept (`record.values`). */
export type RecordedValues = "redact" | "show";

const UID_NAME = /^uidp\.|(?:^|[._])(?:uid|id)s?$|^parent$|^group$/;
const HIDDEN = encodeURIComponent(MASKED);

/** Decides by the catalogue which values of a query are kept. */
export type QueryRedaction = (target: string, resource: string, operation: string) => string;

/**
 * The uids of records, numbers, times and words of the API stay; texts that people chose are hidden, and so is the value of a parameter that
 * the operation does not have. With `show` only secrets are hidden. A page token is hidden in any case, since it is valid for one caller only.
 */
export function createQueryRedaction(
  resources: readonly Pick<Resource, "name" | "operations">[],
  values: RecordedValues,
): QueryRedaction {
  const plain = new Map<string, ReadonlySet<string>>();
  for (const { name, operations } of resources)
    for (const operation of operations) plain.set(`${name} ${operation.name}`, plainNames(operation));
  return (target, resource, operation) => {
    const safe = shownTarget(target, "hide");
    const path = pathOf(safe);
    if (values === "show" || path.length === safe.length) return ascii(safe);
    const names = plain.get(`${resource} ${operation}`);
    const pairs = safe.slice(path.length + 1).split("&");
    return ascii(`${path}?${pairs.map((pair) => redactedPair(pair, names)).join("&")}`);
  };
}

function plainNames(operation: Operation): ReadonlySet<string> {
  const filters = "filters" in operation ? (operation.filters ?? []) : [];
  const names = filters.flatMap((filter) => {
    const isText = filter.use === "send" && filter.kind === "string" && !UID_NAME.test(filter.v1);
    return isText ? [] : [filter.v1, camelCase(filter.v1)];
  });
  return new Set(names);
}

function redactedPair(pair: string, plain: ReadonlySet<string> | undefined): string {
  const sign = pair.indexOf("=");
  if (sign < 0 || sign === pair.length - 1) return pair;
  return plain?.has(pair.slice(0, sign)) === true ? pair : `${pair.slice(0, sign + 1)}${HIDDEN}`;
}

/** A target with the mark escaped, as all that is not ASCII. */
function ascii(target: string): string {
  return target.replaceAll(MASKED, HIDDEN);
}

/** True for a target or a body with a redacted part: it does not ask what the client asked. */
export function isRedacted(text: string): boolean {
  return text.includes(HIDDEN) || text.includes(MASKED) || text.includes("[redacted]");
}

/** `body` without secrets; undefined if it is not JSON, where secrets cannot be found. */
export function recordedBody(body: Uint8Array): string | undefined {
  return maskedJson(Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8"));
}

/** The line of a finished request, with its end. */
export function recordedLine(
  { method, resource, operation, client, status, mode, target }: Exchange,
  at: number,
  redact: QueryRedaction,
  body?: string,
): string {
  const line = {
    time: new Date(at).toISOString(),
    method,
    target: redact(target(), resource, operation),
    client: withoutTokens(client),
    status,
    mode,
    ...(body === undefined ? {} : { body }),
  };
  return `${JSON.stringify(line)}\n`;
}

export function gapLine({ left, why }: RecordedGap, at: number): string {
  return `${JSON.stringify({ time: new Date(at).toISOString(), left, why })}\n`;
}
