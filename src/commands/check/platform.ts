/** The platform as the probes ask it, and the first page of each of its lists. */
import type { Catalogue } from "../../catalogue/catalogue.ts";
import type { Config } from "../../config/config.ts";
import { PAGE_SIZE } from "../../drain/limits.ts";
import { sleep } from "../../model/clock.ts";
import { type ApiResponse, compose, type HeaderList, type SendLayer } from "../../model/http.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../model/json.ts";
import { Problem } from "../../model/problem.ts";
import { collectionPath } from "../../model/request.ts";
import type { Resource } from "../../model/resource.ts";
import type { CutoverMode } from "../../model/rules.ts";
import { createSignalController, type Signal } from "../../model/signal.ts";
import type { ListOperation } from "../../translate/list.ts";
import { pageTarget } from "../../translate/pages.ts";
import { createSend, MAX_RESPONSE_BYTES } from "../../upstream/client.ts";
import { createPool } from "../../upstream/pool.ts";
import { createRetry, createRetryBudget } from "../../upstream/retry.ts";
import type { Judgement } from "./finding.ts";

/** One question to the platform, and how the response is judged. It only reads. */
export interface CheckProbe {
  readonly id: string;
  /** What it asks, for the documentation. */
  readonly asks: string;
  /** Throws what `PlatformApi` throws. */
  run(context: ProbeContext): readonly Judgement[] | Promise<readonly Judgement[]>;
}

export interface ProbeContext {
  readonly config: Config;
  /** Of the version that answers, which may be another one than configured. */
  readonly catalogue: Catalogue;
  readonly api: PlatformApi;
  /** The platform's own v1, where it is configured. */
  readonly native: PlatformApi | undefined;
  readonly lists: readonly PlatformListRead[];
  /** What serves v1 lists of that resource: `translate` if it does so for any client, else `shadow` if that does. */
  readonly serves: (list: PlatformList) => CutoverMode;
  /** Gives random lower-case hexadecimal digits. */
  readonly hex: (digits: number) => string;
}

/** The platform for one credential. Both throw `Problem` when there is no response, and the signal's reason when stopped. */
export interface PlatformApi {
  /** A read; repeated once when the platform is briefly unavailable. */
  get(target: string): Promise<PlatformResponse>;
  /** A write, by probes that were allowed to write; never repeated once it was sent. */
  write(method: "POST" | "PATCH" | "DELETE", target: string, body?: Json): Promise<PlatformResponse>;
}

/** One response, whatever its status. */
export interface PlatformResponse {
  readonly response: ApiResponse;
  readonly status: number;
  /** The body; undefined when it is not JSON. */
  readonly json: Json | undefined;
}

/** `404, code 5` of a refusal in the API's format, else `404, text/html`: never the platform's own text. */
export function shownStatus({ status, json, response }: PlatformResponse): string {
  const code = member(json, "code");
  if (typeof code === "number") return `${status}, code ${code}`;
  const [, type] = response.headers.find(([name]) => name === "content-type") ?? [];
  const media = /^[\w.+-]+\/[\w.+-]+/.exec(type ?? "")?.[0];
  return json === undefined ? `${status}, ${media ?? "no JSON"}` : String(status);
}

/** Where one upstream is and how it is called. */
export type UpstreamSettings = NonNullable<Config["upstream"]["v1"]>;

/** Calls one upstream with the pool, the client and the retries of `serve`. `token` is sent as a bearer token. */
export function createConnection(
  { url, tls, timeouts }: UpstreamSettings,
  token: string | undefined,
  signal: Signal,
  random: () => number,
) {
  const [connectMs, headersMs, bodyMs] = [
    timeouts.connectSeconds * 1000,
    timeouts.headersSeconds * 1000,
    timeouts.bodySeconds * 1000,
  ];
  const pool = createPool({ url, tls, connections: 4, timeouts: { connectMs, headersMs, bodyMs } });
  const retry = createRetry({ budget: createRetryBudget(), wall: Date.now, random, sleep });
  const deadline = withDeadline(connectMs + headersMs + bodyMs);
  const send = compose([deadline, retry], createSend(pool, { maxResponseBytes: MAX_RESPONSE_BYTES }));
  // A stopped check waits for a write that it has begun: what has no response cannot be cleaned up.
  const unstopped = createSignalController().signal;
  const headers: HeaderList = [
    ["accept", "application/json"],
    ...(token === undefined ? [] : [["authorization", `Bearer ${token}`] as const]),
  ];
  return {
    api: {
      get: async (target) => readResponse(await send({ method: "GET", target, headers }, { signal })),
      async write(method, target, body) {
        signal.throwIfAborted();
        const typed: HeaderList = body === undefined ? headers : [...headers, ["content-type", "application/json"]];
        const bytes = body === undefined ? {} : { body: new TextEncoder().encode(JSON.stringify(body)) };
        return readResponse(await send({ method, target, headers: typed, ...bytes }, { signal: unstopped }));
      },
    } satisfies PlatformApi,
    close: (): Promise<void> => pool.close(),
  };
}

function readResponse(response: ApiResponse): PlatformResponse {
  const { status, body } = response;
  try {
    return { response, status, json: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as Json };
  } catch {
    return { response, status, json: undefined };
  }
}

/**
 * Gives up a call after `ms`, repeats included. The pool's timeouts never end a response that arrives byte by byte, and
 * nothing else sets a deadline here.
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

/** A list that carryover reads. */
export interface PlatformList {
  readonly resource: Resource;
  readonly operation: ListOperation;
  /** `/iam/v2beta1/groups`. */
  readonly path: string;
  /** Sent with every page: `order_by`, where `lists.orderBy` is set. */
  readonly params: readonly string[];
}

/** A list, and what the platform responded when asked for its first page. */
export interface PlatformListRead extends PlatformList {
  /** A problem when there was no response. */
  readonly response: PlatformResponse | Problem;
  /** Undefined when the response is no page. */
  readonly page: PlatformPage | undefined;
}

export interface ListWithPage extends PlatformListRead {
  readonly page: PlatformPage;
}

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

/** The lists of a catalogue. */
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
    const response = await api.get(pageTarget(list.path, list.params, { size: PAGE_SIZE })).catch((error: unknown) => {
      if (error instanceof Problem) return error;
      throw error;
    });
    all.push({ ...list, response, page: response instanceof Problem ? undefined : pageOf(response, list.resource) });
  }
  return all;
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

function pageOf({ status, json }: PlatformResponse, { items }: Resource): PlatformPage | undefined {
  if (status !== 200 || !isJsonObject(json)) return undefined;
  // A platform that omits zeros omits an empty list as well.
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

/** int64 is text in JSON. */
function wholeNumber(value: unknown): number | undefined {
  const isText = typeof value === "number" || typeof value === "string";
  return isText && /^\d{1,15}$/.test(String(value)) ? Number(value) : undefined;
}

/** The lists whose first page came, longest first. */
export function byLength({ lists }: ProbeContext): readonly ListWithPage[] {
  const length = ({ totalCount, records }: PlatformPage) => Math.max(totalCount ?? 0, records.length);
  return lists
    .flatMap((list) => (list.page === undefined ? [] : [{ ...list, page: list.page }]))
    .sort((a, b) => length(b.page) - length(a.page));
}
