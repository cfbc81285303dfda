/** Traffic that gives every metric a value, and platform faults to go with it. */
import { request as httpRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/src/sandbox.ts";
import type { ApiRequest, ApiResponse, SendLayer } from "../../../src/model/http.ts";
import { exchange } from "../../end-to-end/comparison/http.ts";
import { call } from "../../grpc/support/rpc.ts";
import { later } from "./processes.ts";

/** What v2 does for a while. */
export type Mood =
  | "well"
  /** Answers every call with 503. */
  | "down"
  /** Ends every connection without an answer. */
  | "cut"
  /** Reads are no JSON. */
  | "garbage"
  /** Records say something else than they hold. */
  | "other-values"
  /** Pages after the first: no JSON, refused, to be asked later, or never. */
  | "garbage-pages"
  | "refused-pages"
  | "later-pages"
  | "hanging";

export interface Platform {
  readonly url: string;
  readonly sandbox: Sandbox;
  mood: Mood;
}

const V2 = /^\/[a-z]+\/v2beta1\//;
const LATER_PAGE = /[?&](?:skip|page_token|pageToken)=/;

/** A sandbox, both versions, that has moods. */
export async function startPlatform(): Promise<Platform> {
  const platform = { mood: "well" as Mood };
  const faults: SendLayer = (next) => async (request, options) => {
    const { mood } = platform;
    if (mood === "well" || !V2.test(request.target)) return next(request, options);
    if (mood === "cut") throw new Error("no answer");
    if (mood === "other-values") return changed(await next(request, options));
    return spoilt(mood, request) ?? (mood === "hanging" && isLater(request) ? hang() : next(request, options));
  };
  const hang = async (): Promise<ApiResponse> => {
    while (platform.mood === "hanging") await sleep(50);
    return answer(503);
  };
  const sandbox = createSandbox({ faults });
  const { url } = await sandbox.listen();
  later(() => sandbox.close());
  return Object.assign(platform, { url, sandbox });
}

const isLater = ({ method, target }: ApiRequest): boolean => method === "GET" && LATER_PAGE.test(target);

/** What is answered instead; undefined: nothing is wrong with this one. */
function spoilt(mood: Mood, request: ApiRequest): ApiResponse | undefined {
  if (mood === "down") return answer(503);
  if (mood === "garbage" && request.method === "GET") return answer(200, "this is no JSON");
  if (!isLater(request)) return undefined;
  if (mood === "garbage-pages") return answer(200, "this is no JSON");
  if (mood === "refused-pages") return answer(403);
  if (mood === "later-pages") return answer(429, "{}", [["retry-after", "5"]]);
  return undefined;
}

function changed(response: ApiResponse): ApiResponse {
  const text = new TextDecoder().decode(response.body).replaceAll(/"name":"[^"]*"/g, '"name":"another"');
  const body = new TextEncoder().encode(text);
  const headers = response.headers.map(
    ([name, value]) => [name, name === "content-length" ? String(body.length) : value] as const,
  );
  return { ...response, headers, body };
}

function answer(status: number, text = "{}", headers: ApiResponse["headers"] = []): ApiResponse {
  return { status, headers: [["content-type", "application/json"], ...headers], body: new TextEncoder().encode(text) };
}

export interface Asking {
  readonly client?: string;
  readonly body?: unknown;
  /** Undefined: the administrator's token; null: none. */
  readonly token?: string | null;
}

/** One request; its status, or 0 where the connection broke. */
export type Ask = (method: string, target: string, asking?: Asking) => Promise<number>;

export function asker(url: string, sandbox: Sandbox): Ask {
  return async (method, target, { client = "watcher", body, token = sandbox.token("admin") } = {}) => {
    const headers = {
      ...(client === "" ? {} : { "x-client": client }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    const bytes = body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(body));
    const { status } = await exchange({ method, url, target, headers, body: bytes }).catch(() => ({ status: 0 }));
    return status;
  };
}

/** Begins a PUT and sends the rest of its body after `ms`. */
export function slowPut(url: string, target: string, token: string, ms: number): Promise<number> {
  return new Promise((done) => {
    const headers = { authorization: `Bearer ${token}`, "x-client": "slow" };
    const request = httpRequest(`${url}${target}`, { method: "PUT", headers, agent: false }, (response) => {
      response.resume();
      response.on("close", () => done(response.statusCode ?? 0));
    });
    request.on("error", () => done(0));
    request.write('{"name":');
    setTimeout(() => request.end('"slow"}'), ms);
  });
}

/** One gRPC call that is served, and one without a token. */
export async function rpcs(url: string, sandbox: Sandbox): Promise<void> {
  const path = `/${VENDOR_TYPES}.iam.v2beta1.GroupsService/ListGroups`;
  await Promise.all([
    call(url, path, undefined, { authorization: `Bearer ${sandbox.token("admin")}` }),
    call(url, path),
  ]);
}

/** A little of everything that clients do, once. */
export async function everyKind(ask: Ask, { wellKnown }: Sandbox): Promise<void> {
  const group = `/iam/v1/groups/${wellKnown.someGroup}`;
  await Promise.all([
    ask("GET", "/iam/v1/groups", { client: "ci-bot" }),
    ask("GET", group, { client: "ci-bot" }),
    ask("GET", "/iam/v1/roles", { client: "web-ui" }),
    ask("GET", "/iam/v1/groups", { client: "watcher" }),
    ask("GET", group, { client: "watcher" }),
    ask("GET", "/iam/v1/roles", { client: "old" }),
    ask("GET", "/iam/v2beta1/groups?page_size=5", { client: "new" }),
    ask("GET", "/iam/v2beta1/groups?page_size=5", { client: "old" }),
    ask("GET", group, { client: "", token: null }),
    ask("GET", "/iam/v1/groups?nonsense=1&id=", { client: "ci-bot" }),
    ask("GET", "/nothing/here", { client: "" }),
    ask("GET", "/iam/v1/groups?parent=%zz", { client: "ci-bot" }),
    // Leaves fields out, and sends an unknown one.
    ask("PUT", group, { client: "web-ui", body: { name: "renamed", surprise: 1 } }),
  ]);
}
