/** Finds the operation that a method and a path mean. */

import type { Caller } from "../context.ts";
import { gatewayRefusal, RpcCode } from "../refusal.ts";
import type { QueryPairs } from "../wire/decode.ts";

/** One request, its path already taken apart. */
export interface Call {
  /** What follows the collection, or what the wildcard took: mostly a uid. */
  readonly tail: string;
  readonly query: QueryPairs;
  readonly body: Uint8Array;
}

/** The handler proper; its result is the JSON text of a 200 answer. */
export type Action = (caller: Caller) => string;

/** Where in the path the variable part lies, in the order in which shapes are tried. */
export type Shape = "collectionVerb" | "verb" | "literal" | "image" | "suffix" | "prefix" | "collection" | "tail";

export interface Route {
  readonly method: string;
  readonly domain: string;
  readonly version: string;
  readonly collection: string;
  readonly shape: Shape;
  /** The verb, literal, suffix or prefix of those shapes; of an image what follows its digest. */
  readonly word?: string;
  /** Field names in errors that differ from v2's. */
  readonly names?: ReadonlyMap<string, string>;
  /** Decodes the call, which comes before authentication; what it returns runs after it. */
  readonly prepare: (call: Call) => Action;
}

export interface Match {
  readonly route: Route;
  readonly tail: string;
}

const SHAPES: readonly Shape[] = [
  "collectionVerb",
  "verb",
  "literal",
  "image",
  "suffix",
  "prefix",
  "collection",
  "tail",
];

/** The segments of a raw path. `%2F` is a slash like any other; empty and dot segments before the last are no path. */
export function pathSegments(rawPath: string): readonly string[] {
  let path: string;
  try {
    path = decodeURIComponent(rawPath);
  } catch {
    throw gatewayRefusal(RpcCode.INVALID_ARGUMENT, "malformed percent-encoding in the path");
  }
  const segments = path.split("/").slice(1);
  const odd = segments.some((one, at) => one === "." || one === ".." || (one === "" && at < segments.length - 1));
  if (!path.startsWith("/") || odd) throw gatewayRefusal(RpcCode.NOT_FOUND, "Not Found");
  return segments;
}

/**
 * Builds the matcher. It throws 404 for no path at all and 501 for a path that other methods have; with `orGet` the path's GET takes
 * the place of a method that it lacks.
 */
export function createMatcher(
  routes: readonly Route[],
): (method: string, segments: readonly string[], orGet?: boolean) => Match {
  const byCollection = new Map<string, Route[]>();
  // A last segment that is nothing but a known verb is no path, whatever stands before it.
  const bareVerbs = new Set(
    routes.filter(({ shape }) => /verb/i.test(shape)).map((route) => `${route.method} :${route.word}`),
  );
  for (const route of [...routes].sort((a, b) => SHAPES.indexOf(a.shape) - SHAPES.indexOf(b.shape))) {
    const key = `${route.domain}/${route.version}/${route.collection}`;
    byCollection.set(key, [...(byCollection.get(key) ?? []), route]);
  }
  return (method, segments, orGet = false) => {
    const [domain = "", version = "", third = ""] = segments;
    const collection = segments.length === 3 ? (third.split(":")[0] ?? "") : third;
    if (bareVerbs.has(`${method} ${segments.at(-1)}`)) throw gatewayRefusal(RpcCode.NOT_FOUND, "Not Found");
    let elsewhere = false;
    let get: Match | undefined;
    for (const route of byCollection.get(`${domain}/${version}/${collection}`) ?? []) {
      const tail = tailOf(route, segments);
      if (tail === undefined) continue;
      if (route.method === method) return { route, tail };
      elsewhere = true;
      if (route.method === "GET") get ??= { route, tail };
    }
    if (orGet && get !== undefined) return get;
    if (elsewhere) throw gatewayRefusal(RpcCode.UNIMPLEMENTED, "Method Not Allowed");
    throw gatewayRefusal(RpcCode.NOT_FOUND, "Not Found");
  };
}

/** What the wildcard of `route` takes of the path, or undefined when the route is not meant. */
function tailOf(route: Route, segments: readonly string[]): string | undefined {
  const rest = segments.slice(3);
  const joined = rest.join("/");
  const word = route.word ?? "";
  const bare = segments[2] === route.collection;
  const isVerb = segments[2] === `${route.collection}:${word}`;
  switch (route.shape) {
    case "collectionVerb":
      return rest.length === 0 && isVerb ? "" : undefined;
    case "verb":
      if (rest.length === 0) return isVerb ? "" : undefined;
      return joined.endsWith(`:${word}`) ? joined.slice(0, -word.length - 1) : undefined;
    case "literal":
      return joined === word ? "" : undefined;
    case "image":
      return rest.at(-3) === "digests" && rest.at(-1) === word ? rest.slice(0, -1).join("/") : undefined;
    case "suffix":
      return rest.length > 1 && rest.at(-1) === word ? rest.slice(0, -1).join("/") : undefined;
    case "prefix":
      return rest[0] === word ? rest.slice(1).join("/") : undefined;
    case "collection":
      return rest.length === 0 && bare ? "" : undefined;
    case "tail":
      return bare ? joined : undefined;
  }
}
