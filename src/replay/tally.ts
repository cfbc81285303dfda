/** The results of a replay so far: bounded, without responses, and saved between two runs. */
import { DIFFERENCE_CLASSES, type DifferenceClass } from "../model/comparison.ts";
import type { OperationMatch } from "../model/request.ts";
import type { RecordTimes } from "../model/resource.ts";
import { shownTarget, withoutTokens } from "../model/secrets.ts";
import type { DifferenceGroup } from "../shadow/differences.ts";
import { shownValue } from "../shadow/results.ts";
import type { ReplayVerdict } from "./attempts.ts";
import { type DifferenceHint, hintFor } from "./hints.ts";
import type { ReplayKind } from "./sides.ts";

/** One example of a cause. */
export interface CauseExample {
  /** `FILE:LINE`. */
  readonly at: string;
  readonly method: string;
  /** Without secrets. */
  readonly target: string;
  readonly client: string;
  readonly id?: string;
  /** As `shadow.values` says; undefined if that side lacks the member. */
  readonly native?: string;
  readonly translated?: string;
}

/** A place where responses differ. */
export interface ReplayCause extends DifferenceHint {
  readonly resource: string;
  readonly operation: string;
  readonly class: DifferenceClass;
  readonly path: string;
  /** Requests in which the translation differs and native does not. */
  requests: number;
  /** Records in them. */
  records: number;
  /** Requests in which native's second response differs in the same way, and the translation does not. */
  unstable: number;
  /** Names of clients, as far as they fit. */
  readonly clients: string[];
  example?: CauseExample;
}

export interface OperationCount {
  readonly resource: string;
  readonly operation: string;
  compared: number;
  differing: number;
}

/** Something that happened to requests, and where first. */
export interface CountedReason {
  readonly why: string;
  /** `FILE:LINE:COLUMN`. */
  readonly first: string;
  count: number;
}

/** As JSON it is the same. */
export interface ReplayTally {
  compared: number;
  differing: number;
  /** Compared requests in which native differed from itself. */
  noisy: number;
  /** Compared requests with a difference that was not there again. */
  passing: number;
  /** Requests that native refused: equal refusals prove little. */
  refused: number;
  readonly causes: ReplayCause[];
  /** Where native differs from itself. */
  readonly noise: { readonly resource: string; readonly operation: string; readonly path: string; requests: number }[];
  readonly operations: OperationCount[];
  readonly failed: CountedReason[];
  readonly clients: { readonly client: string; compared: number; differing: number }[];
}

export interface TalliedRequest {
  readonly at: string;
  readonly method: string;
  readonly target: string;
  readonly client: string;
  readonly kind: Exclude<ReplayKind, { readonly kind: "skip" }>;
}

export interface TallyOptions {
  /** `shadow.values`. */
  readonly values: "redact" | "show";
  /** `v1.recordTimes`. */
  readonly recordTimes: RecordTimes;
}

const MAX_CAUSES = 1_000;
const MAX_CLIENTS = 1_000;
const MAX_NAMES = 20;
const MAX_TARGET = 2_048;
/** Replaces names beyond the limits. */
const OTHERS = "(others)";

export function newTally(): ReplayTally {
  return {
    compared: 0,
    differing: 0,
    noisy: 0,
    passing: 0,
    refused: 0,
    causes: [],
    noise: [],
    operations: [],
    failed: [],
    clients: [],
  };
}

/** Adds verdicts to a tally. */
export function createTallying(tally: ReplayTally, { values, recordTimes }: TallyOptions) {
  const causes = new Map(tally.causes.map((cause) => [causeKey(cause), cause]));
  const noise = new Map(tally.noise.map((place) => [noiseKey(place), place]));
  const operations = new Map(tally.operations.map((one) => [`${one.resource} ${one.operation}`, one]));
  const clients = new Map(tally.clients.map((one) => [one.client, one]));

  const causeOf = (asked: TalliedRequest, place: DifferenceGroup): ReplayCause => {
    const { resource, operation } = namesOf(asked);
    const key = causeKey({ resource, operation, class: place.class, path: place.path });
    const known = causes.get(key);
    if (known !== undefined) return known;
    const path = causes.size < MAX_CAUSES ? place.path : OTHERS;
    const rest = { resource, operation, class: place.class, path: withoutTokens(path) };
    const existing = causes.get(causeKey(rest));
    if (existing !== undefined) return existing;
    const [example] = place.examples.values();
    const translated = example?.translated;
    const hint =
      asked.kind.kind === "read"
        ? hintFor(place, { resource, operation: asked.kind.match.operation, translated, recordTimes })
        : {};
    const cause: ReplayCause = { ...rest, ...hint, requests: 0, records: 0, unstable: 0, clients: [] };
    causes.set(causeKey(rest), cause);
    tally.causes.push(cause);
    return cause;
  };
  const addCause = (asked: TalliedRequest, group: DifferenceGroup): void => {
    const cause = causeOf(asked, group);
    cause.requests += 1;
    cause.records += [...group.ids.values()].reduce((sum, count) => sum + count, group.beyond);
    const client = withoutTokens(asked.client);
    if (client !== "" && cause.clients.length < MAX_NAMES && !cause.clients.includes(client))
      cause.clients.push(client);
    cause.example ??= exampleOf(asked, group, values);
  };
  const addNoise = (asked: TalliedRequest, path: string): void => {
    const names = namesOf(asked);
    const place = noise.get(noiseKey({ ...names, path })) ?? { ...names, path: withoutTokens(path), requests: 0 };
    if (place.requests === 0) {
      if (noise.size >= MAX_CAUSES) return;
      noise.set(noiseKey(place), place);
      tally.noise.push(place);
    }
    place.requests += 1;
  };
  const countOperation = (asked: TalliedRequest, differs: boolean): void => {
    const names = namesOf(asked);
    const key = `${names.resource} ${names.operation}`;
    let count = operations.get(key);
    if (count === undefined) {
      count = { ...names, compared: 0, differing: 0 };
      operations.set(key, count);
      tally.operations.push(count);
    }
    count.compared += 1;
    if (differs) count.differing += 1;
  };
  const countClient = (name: string, differs: boolean): void => {
    const client = clients.has(name) || clients.size < MAX_CLIENTS ? name : OTHERS;
    let count = clients.get(client);
    if (count === undefined) {
      count = { client, compared: 0, differing: 0 };
      clients.set(client, count);
      tally.clients.push(count);
    }
    count.compared += 1;
    if (differs) count.differing += 1;
  };
  return (asked: TalliedRequest, verdict: ReplayVerdict): void => {
    const judged = verdict.kind === "failed" ? failureAsDifference(verdict) : verdict;
    if (judged === undefined) {
      addReason(
        tally.failed,
        FAILURES.get((verdict as { readonly why: string }).why) ?? "nothing to compare",
        asked.at,
      );
      return;
    }
    const { differences, unstable, noise: own, status, passing } = judged;
    const differs = differences.length > 0;
    tally.compared += 1;
    if (differs) tally.differing += 1;
    if (own.length > 0) tally.noisy += 1;
    if (passing) tally.passing += 1;
    if (status >= 400) tally.refused += 1;
    for (const group of differences) addCause(asked, group);
    for (const group of unstable) causeOf(asked, group).unstable += 1;
    for (const path of own) addNoise(asked, path);
    countOperation(asked, differs);
    countClient(withoutTokens(asked.client), differs);
  };
}

/** Why a request was not compared, in words. */
const FAILURES: ReadonlyMap<string, string> = new Map([
  ["native", "native v1 failed each time"],
  ["platform", "v2 failed each time"],
  ["unreachable", "the platform did not respond"],
  ["timeout", "no response in time"],
  ["too-large", "a response is longer than an eighth of limits.memoryBytes"],
  ["memory", "no memory for the responses"],
  ["unreadable", "the Content-Encoding of a response cannot be decoded"],
  ["not-comparable", "the translation of this read would write"],
  ["overloaded", "a limit of carryover's own"],
  ["internal", "a fault of the comparison itself"],
]);

/** Native v1 served it, and the translation failed each time: a client would notice that. */
function failureAsDifference({
  translated,
}: ReplayVerdict & { readonly kind: "failed" }): (ReplayVerdict & { readonly kind: "compared" }) | undefined {
  if (translated === undefined) return undefined;
  const difference = { class: "status", path: "status", id: undefined, native: "served", translated } as const;
  const group: DifferenceGroup = {
    class: "status",
    path: "status",
    ids: new Map([[undefined, 1]]),
    beyond: 0,
    examples: new Map([[undefined, difference]]),
  };
  return { kind: "compared", status: 200, differences: [group], unstable: [], noise: [], passing: false };
}

/** Counts under `why`; most reasons are few and fixed. */
export function addReason(reasons: CountedReason[], why: string, first: string, count = 1): void {
  const known = reasons.find((reason) => reason.why === why);
  if (known === undefined) reasons.push({ why, first, count });
  else known.count += count;
}

function namesOf({ kind }: TalliedRequest): { readonly resource: string; readonly operation: string } {
  if (kind.kind === "refused") return { resource: "unknown", operation: "unknown" };
  const { resource, operation }: OperationMatch = kind.match;
  return { resource: resource.name, operation: operation.name };
}

function causeKey({
  resource,
  operation,
  class: what,
  path,
}: Pick<ReplayCause, "resource" | "operation" | "class" | "path">): string {
  return `${resource} ${operation} ${what} ${path}`;
}

function noiseKey({ resource, operation, path }: Omit<ReplayTally["noise"][number], "requests">): string {
  return `${resource} ${operation} ${path}`;
}

function exampleOf(
  { at, method, target, client }: TalliedRequest,
  group: DifferenceGroup,
  values: "redact" | "show",
): CauseExample {
  const found = [...group.examples.values()].find(({ id }) => group.ids.has(id));
  const short = target.length > MAX_TARGET ? `${target.slice(0, MAX_TARGET)}…` : target;
  const shown = (value: string | undefined) =>
    value === undefined ? undefined : group.class === "status" ? value : shownValue(value, group, values);
  const [native, translated] = [shown(found?.native), shown(found?.translated)];
  return {
    at,
    method,
    target: shownTarget(short, "hide"),
    client: withoutTokens(client),
    ...(found?.id === undefined ? {} : { id: withoutTokens(found.id) }),
    ...(native === undefined ? {} : { native }),
    ...(translated === undefined ? {} : { translated }),
  };
}

/** Worst first, then most frequent. */
export function ranked(causes: readonly ReplayCause[]): readonly ReplayCause[] {
  const rank = (cause: ReplayCause): number => DIFFERENCE_CLASSES.indexOf(cause.class);
  return causes.toSorted((a, b) => rank(a) - rank(b) || b.requests - a.requests || b.records - a.records);
}
