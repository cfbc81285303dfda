/** Which first pages does the platform give? (Read once, for all probes to look at.) */
import type { Catalogue } from "../../catalogue.ts";
import type { Config } from "../../config/config.ts";
import { sleep } from "../../model/clock.ts";
import { type ApiResponse, compose, type HeaderList, type SendLayer } from "../../model/http.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../model/json.ts";
import { Problem } from "../../model/problem.ts";
import { collectionPath } from "../../model/request.ts";
import type { Operation, Resource } from "../../model/resource.ts";
import { createSignalController, type Signal } from "../../model/signal.ts";
import { pageTarget } from "../../translate/pages.ts";
import { createSend } from "../../upstream/client.ts";
import { createPool } from "../../upstream/pool.ts";
import { createRetry, createRetryBudget } from "../../upstream/retry.ts";
import type { Finding } from "./finding.ts";

/** The page size that every drain asks for (specification section 8: the largest). */
export const PAGE_SIZE = 200;

/** One page of a v2 list. */
export interface PlatformPage {
  readonly records: readonly JsonObject[];
  readonly uids: readonly string[];
  /** The page without its records. */
  readonly envelope: JsonObject;
  /** Empty on the last page. */
  readonly nextPageToken: string;
  /** Undefined when there is none, or it is no whole number. */
  readonly totalCount: number | undefined;
  readonly skipped: number | undefined;
}

export type CheckedListOperation = Extract<Operation, { readonly kind: "list" }>;

/** A list that carryover reads. */
export interface PlatformList {
  readonly resource: Resource;
  readonly operation: CheckedListOperation;
  /** `/iam/v2beta1/groups`. */
  readonly path: string;
  /** Sent with every page: `order_by`, where `lists.orderBy` is set. */
  readonly params: readonly string[];
}

/** A list and what the platform said when asked for its first page. */
export interface PlatformListRead extends PlatformList {
  /** Why there is none, when the platform did not answer. */
  readonly answer: PlatformAnswer | Problem;
  /** Undefined when it is no page. */
  readonly page: PlatformPage | undefined;
}

export interface ProbeContext {
  readonly config: Config;
  /** Of the version that answers, which may be another one than configured. */
  readonly catalogue: Catalogue;
  readonly api: PlatformApi;
  /** The platform's own v1, where it is configured. */
  readonly native: PlatformApi | undefined;
  readonly lists: readonly PlatformListRead[];
  /** Lower-case hexadecimal digits. */
  readonly hex: (digits: number) => string;
}

/** One question to the platform, and how the answer is judged. Only reads. */
export interface CheckProbe {
  readonly id: string;
  /** What it asks, for the documentation. */
  readonly asks: string;
  /** Throws what `Api` throws. */
  run(subject: ProbeContext): Promise<readonly Finding[]>;
}

/** The lists of a catalogue, in the order that is asked for (`lists.orderBy`). */
export function listsOf({ resources, version }: Catalogue, orderBy: string | undefined): readonly PlatformList[] {
  const params = orderBy === undefined ? [] : [orderParam(orderBy)];
  return resources.flatMap((resource) => {
    const operation = resource.operations.find((one) => one.kind === "list");
    return operation === undefined ? [] : [{ resource, operation, path: collectionPath(resource, version), params }];
  });
}

/** The parameter that asks for an order. */
export function orderParam(orderBy: string): string {
  return `order_by=${encodeURIComponent(orderBy)}`;
}

/** Asks for the first page of every list, one after another: a check must not be a burst. */
export async function readLists(
  api: PlatformApi,
  catalogue: Catalogue,
  orderBy: string | undefined,
): Promise<readonly PlatformListRead[]> {
  const all: PlatformListRead[] = [];
  for (const list of listsOf(catalogue, orderBy)) {
    const answer = await api.get(pageTarget(list.path, list.params, { size: PAGE_SIZE })).catch(asProblem);
    all.push({ ...list, answer, page: answer instanceof Problem ? undefined : pageOf(answer, list.resource) });
  }
  return all;
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

/** A further page of `list`; undefined when the platform refuses it. */
export async function readPage(
  api: PlatformApi,
  list: PlatformList,
  page: { readonly size: number; readonly token?: string; readonly skip?: number },
  params: readonly string[] = [],
): Promise<PlatformPage | undefined> {
  return pageOf(await api.get(pageTarget(list.path, [...params, ...list.params], page)), list.resource);
}

function pageOf({ status, json }: PlatformAnswer, { items }: Resource): PlatformPage | undefined {
  if (status !== 200 || !isJsonObject(json)) return undefined;
  // A platform that leaves zeros out leaves an empty list out as well.
  const given = member(json, items) ?? [];
  if (!Array.isArray(given)) return undefined;
  const records = given.filter(isJsonObject);
  const { [items]: _records, ...envelope } = json;
  return {
    records,
    uids: records.map((record) => String(member(record, "uid") ?? "")),
    envelope,
    nextPageToken: String(member(json, "nextPageToken") ?? ""),
    totalCount: wholeNumber(member(json, "totalCount")),
    skipped: wholeNumber(member(json, "skipped")),
  };
}

function wholeNumber(value: unknown): number | undefined {
  return (typeof value === "number" || typeof value === "string") && /^\d{1,15}$/.test(String(value))
    ? Number(value)
    : undefined;
}

/** The lists that were answered with a page, longest first. */
export function byLength(subject: ProbeContext): readonly (PlatformListRead & { readonly page: PlatformPage })[] {
  const length = ({ totalCount, records }: PlatformPage) => Math.max(totalCount ?? 0, records.length);
  return subject.lists
    .flatMap((list) => (list.page === undefined ? [] : [{ ...list, page: list.page }]))
    .sort((a, b) => length(b.page) - length(a.page));
}

/** How does a probe ask the platform, and what does it get? */

/** One answer, whatever its status. */
export interface PlatformAnswer {
  readonly response: ApiResponse;
  readonly status: number;
  /** The body; undefined when it is no JSON. */
  readonly json: Json | undefined;
}

/** The platform for one credential. Both throw `Problem` when there is no answer, and the signal's reason when stopped. */
export interface PlatformApi {
  /** A read; repeated once when the platform is briefly unavailable. */
  get(target: string): Promise<PlatformAnswer>;
  /** A write (only probes that were allowed to write call it); never repeated once it left. */
  write(method: "POST" | "PATCH" | "DELETE", target: string, body?: Json): Promise<PlatformAnswer>;
}

/** `response` with its body read. */
export function answerOf(response: ApiResponse): PlatformAnswer {
  return { response, status: response.status, json: parse(response.body) };
}

function parse(body: Uint8Array): Json | undefined {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as Json;
  } catch {
    return undefined;
  }
}

/** `404, code 5` of a refusal as the API words it, else `404, text/html`: never the platform's own text. */
export function shownStatus({ status, json, response }: PlatformAnswer): string {
  const code = member(json, "code");
  if (typeof code === "number") return `${status}, code ${code}`;
  const [, type] = response.headers.find(([name]) => name === "content-type") ?? [];
  const media = /^[\w.+-]+\/[\w.+-]+/.exec(type ?? "")?.[0];
  return json === undefined ? `${status}, ${media ?? "no JSON"}` : String(status);
}

/** Over which connection do the probes reach one upstream? (The same pool, send and retry as `serve`.) */

/** Where one upstream is and how it is called. */
export type UpstreamSettings = NonNullable<Config["upstream"]["v1"]>;

export interface PlatformConnection {
  readonly api: PlatformApi;
  close(): Promise<void>;
}

/** Largest answer that is read: that of `serve`. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** `token` goes out as a bearer token with every call; without one nothing does. */
export function createConnection(
  { url, tls, timeouts }: UpstreamSettings,
  token: string | undefined,
  signal: Signal,
  random: () => number,
): PlatformConnection {
  const pool = createPool({
    url,
    tls,
    connections: 4,
    timeouts: {
      connectMs: timeouts.connectSeconds * 1000,
      headersMs: timeouts.headersSeconds * 1000,
      bodyMs: timeouts.bodySeconds * 1000,
    },
  });
  const retry = createRetry({ budget: createRetryBudget(), wall: Date.now, random, sleep });
  const patience = (timeouts.connectSeconds + timeouts.headersSeconds + timeouts.bodySeconds) * 1000;
  const send = compose([withDeadline(patience), retry], createSend(pool, { maxResponseBytes: MAX_RESPONSE_BYTES }));
  // A write that was begun is waited for, also when the check is stopped: what nobody waits for cannot be tidied up.
  const unstopped = createSignalController().signal;
  const headers: HeaderList = [
    ["accept", "application/json"],
    ...(token === undefined ? [] : [["authorization", `Bearer ${token}`] as const]),
  ];
  return {
    api: {
      get: async (target) => answerOf(await send({ method: "GET", target, headers }, { signal })),
      async write(method, target, body) {
        signal.throwIfAborted();
        const typed: HeaderList = body === undefined ? headers : [...headers, ["content-type", "application/json"]];
        const bytes = body === undefined ? {} : { body: new TextEncoder().encode(JSON.stringify(body)) };
        return answerOf(await send({ method, target, headers: typed, ...bytes }, { signal: unstopped }));
      },
    },
    close: () => pool.close(),
  };
}

/**
 * Gives a call up after `ms`, repeat included: an answer that comes byte by byte is never late for the timeouts of the pool,
 * and nobody else has a deadline here.
 */
function withDeadline(ms: number): SendLayer {
  return (next) =>
    async (request, { signal }) => {
      const { signal: own, abort } = createSignalController();
      const stop = () => abort(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      const timer = setTimeout(() => abort(new Problem("UPSTREAM_TIMEOUT", "the platform did not answer in time")), ms);
      try {
        return await next(request, { signal: own });
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      }
    };
}
