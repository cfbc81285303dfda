/** A v2 registry with one repo, its readme and its tags, as far as tests of several calls need it. */
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import type { ApiRequest, ApiResponse } from "../../../src/model/http.ts";
import type { Json, JsonObject } from "../../../src/model/json.ts";
import { Problem } from "../../../src/model/problem.ts";
import type { Resource } from "../../../src/model/resource.ts";
import { createRouter } from "../../../src/router/router.ts";
import { json, type Run, runOperation } from "../support.ts";

export const { resources, natives } = await loadCatalogue("v2beta1");
const route = createRouter({ resources, natives, version: "v2beta1", extraPrefixes: [] });

export const resource = (name: string): Resource => {
  const found = resources.find((each) => each.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};

export const PARENT = "0a1b/22";
export const REPO = `${PARENT}/33`;

/** What the platform holds. */
export interface World {
  /** By uid, without it. */
  readonly repos: Map<string, JsonObject>;
  readonly readmes: Map<string, string>;
  readonly tags: Map<string, JsonObject>;
}

export function world(repo: JsonObject = {}, readme?: string): World {
  return {
    repos: new Map([[REPO, { name: "nginx", ...repo }]]),
    readmes: new Map(readme === undefined ? [] : [[REPO, readme]]),
    tags: new Map(),
  };
}

/** The platform's own refusal, with the detail that tells it from a gateway's. */
export function refusal(http: number, code: number, message = "no"): ApiResponse {
  const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "R", domain: "registry" }];
  return json(http, { code, message, details });
}

/** Answers as v2 does: lists by parent and name, PATCH by its mask, an upserting POST of tags. `interfere` goes first. */
function platform(held: World, interfere?: (call: string) => ApiResponse | undefined) {
  return (request: ApiRequest): ApiResponse => {
    const [path = "", query = ""] = request.target.replace("/registry/v2beta1/", "").split("?");
    const told = interfere?.(`${request.method} ${path}`);
    if (told !== undefined) return told;
    const [collection = "", ...rest] = path.split("/");
    const params = new URLSearchParams(query);
    const body = JSON.parse(Buffer.from(request.body ?? "{}").toString()) as JsonObject;
    const uid = rest.join("/");
    if (path.endsWith("/readme")) return readme(held, request.method, uid.replace(/\/readme$/, ""), body);
    const records = collection === "repos" ? held.repos : held.tags;
    if (request.method === "GET" && uid === "") return list(records, collection, params);
    if (request.method === "POST") return post(records, uid, body);
    const record = records.get(uid);
    if (record === undefined) return refusal(404, 5);
    if (request.method === "GET") return json(200, { uid, ...record });
    return patch(records, uid, record, body, params.get("updateMask")?.split(",") ?? []);
  };
}

function readme({ readmes, repos }: World, method: string, uid: string, body: JsonObject): ApiResponse {
  if (!repos.has(uid)) return refusal(404, 5);
  if (method === "PATCH") readmes.set(uid, String(body["content"]));
  const content = readmes.get(uid);
  return json(200, { uid, ...(content === undefined ? {} : { content }) });
}

function list(records: Map<string, JsonObject>, items: string, params: URLSearchParams): ApiResponse {
  const parent = params.get("uidp.children_of");
  const name = params.get("name");
  const found = [...records]
    .filter(
      ([uid, record]) =>
        parent === null || (uid.startsWith(`${parent}/`) && (name ?? record["name"]) === record["name"]),
    )
    .map(([uid, record]) => ({ uid, ...record }));
  // Two records a page, so that a reader must not stop after the first page.
  const from = Number(params.get("page_token") ?? 0);
  return json(200, {
    [items]: found.slice(from, from + 2),
    nextPageToken: from + 2 < found.length ? String(from + 2) : "",
  });
}

function post(records: Map<string, JsonObject>, parent: string, body: JsonObject): ApiResponse {
  const same = [...records].find(([uid, { name }]) => uid.startsWith(`${parent}/`) && name === body["name"]);
  const uid = same?.[0] ?? `${parent}/${records.size + 90}`;
  records.set(uid, body);
  return json(200, { uid, ...body });
}

/** What the mask names is replaced, one level into messages; the rest stays. */
function patch(
  records: Map<string, JsonObject>,
  uid: string,
  record: JsonObject,
  body: JsonObject,
  mask: readonly string[],
): ApiResponse {
  const next = structuredClone(record);
  for (const path of mask) {
    const [outer = "", inner] = path.split(".");
    if (inner === undefined) next[outer] = body[outer] ?? null;
    else next[outer] = { ...(next[outer] as JsonObject), [inner]: (body[outer] as JsonObject)[inner] as Json };
  }
  records.set(uid, next);
  return json(200, { uid, ...next });
}

interface More {
  readonly body?: unknown;
  readonly headers?: readonly (readonly [string, string])[];
  readonly interfere?: (call: string) => ApiResponse | undefined;
  readonly mismatch?: "zeros" | "report" | "fail";
  /** The spelling of masks that was learned before. */
  readonly known?: "camelCase" | "snake_case";
}

/** Makes a v1 request of that platform. `path`: below `/registry/v1/`, with its query. */
export function ask(held: World, method: string, path: string, more: More = {}): Promise<Run> {
  const routed = route(method, `/registry/v1/${path}`);
  if (routed.kind !== "match") throw new Error(`${method} ${path} is ${routed.kind}`);
  const { match } = routed;
  return runOperation({
    resources,
    resource: match.resource,
    operation: match.operation,
    match,
    ...(more.body === undefined ? {} : { body: typeof more.body === "string" ? more.body : JSON.stringify(more.body) }),
    ...(more.headers === undefined ? {} : { headers: more.headers }),
    ...(more.mismatch === undefined ? {} : { options: { mismatch: more.mismatch } }),
    ...(more.known === undefined ? {} : { known: more.known }),
    answer: platform(held, more.interfere),
  });
}

/** The calls of a run: method and path below the version, without queries. */
export const callsOf = ({ sent }: Pick<Run, "sent">): string[] =>
  sent.map(({ method, target }) => `${method} ${target.replace("/registry/v2beta1/", "").split("?")[0]}`);

/** The writes among them. */
export const writesOf = (run: Pick<Run, "sent">): string[] => callsOf(run).filter((call) => !call.startsWith("GET"));

export const headerOf = ({ response }: Run, name: string): string | undefined =>
  response.headers.find(([key]) => key === name)?.[1];

/** Fails like a lost connection. */
export function lost(): never {
  throw new Problem("UPSTREAM_UNREACHABLE", "the platform could not be reached", { metadata: { state: "unknown" } });
}
