/** Runs a translated write without sending it: reads of v2 take the place of the responses to writes. */
import type { ComparisonFailure } from "../model/comparison.ts";
import { type ApiRequest, pathOf, type Send, type SendLayer, withoutHeaders } from "../model/http.ts";
import type { JsonObject } from "../model/json.ts";
import { isUid } from "../model/uid.ts";
import { parsedObject, whyNotParsed } from "./bounded-json.ts";
import { ComparisonError } from "./outcome.ts";
import type { ComparisonWork } from "./reads.ts";

/** A write that was built and not sent. */
export interface InterceptedWrite {
  readonly request: ApiRequest;
  /** What v2 holds where the write would have gone; undefined where that is no record. */
  readonly stored: JsonObject | undefined;
}

export interface DryRunOptions extends Pick<ComparisonWork, "inSteps"> {
  /** v2's spelling of the parent or record in the request's path; empty without one. */
  readonly uidPath: string;
  /** The uid that native gave the created record; undefined when its response has none. */
  readonly created: string | undefined;
  /** Native refused the write too, so there is nothing to read: any write ends the translation. */
  readonly refused: boolean;
}

export interface DryRun {
  /** Lets reads through to v2, and stops everything else. */
  readonly layer: SendLayer;
  readonly intercepted: readonly InterceptedWrite[];
  /** Why a call had no response. It ends the comparison, whatever the translation made of it. */
  failure(): ComparisonFailure | undefined;
  /** A DELETE was built, and v2 still holds the record. */
  stillThere(): boolean;
  /** v2 has responded to a read. */
  answered(): boolean;
}

/**
 * The response to a PATCH is that to a GET of its path; to a POST on a collection, the record that native created; to a DELETE,
 * `{}`. The translation ends where no read returns a response, or one that is too large.
 */
export function createDryRun({ uidPath, created, refused, inSteps }: DryRunOptions): DryRun {
  const intercepted: InterceptedWrite[] = [];
  let failure: ComparisonFailure | undefined;
  let stillThere = false;
  let answered = false;
  const fail = (why: ComparisonFailure): never => {
    failure ??= why;
    throw new ComparisonError(why);
  };
  const layer: SendLayer = (next) => {
    const read: Send = async (request, sending) => {
      const answer = await next(request, sending);
      answered = true;
      const tooLarge = await inSteps(whyNotParsed(answer.body));
      return tooLarge === undefined ? answer : fail(tooLarge);
    };
    return async (request, sending) => {
      if (request.method === "GET" || request.method === "HEAD") return read(request, sending);
      const target = refused ? undefined : readTargetOf(request, uidPath, created);
      if (target === undefined) return fail("not-comparable");
      const headers = withoutHeaders(request.headers, WRITE_HEADERS);
      const stored = await read({ method: "GET", target, headers }, sending);
      const { status } = stored;
      intercepted.push({ request, stored: parsedObject(stored.body) });
      if (request.method === "DELETE" && (status === 404 || status === 200)) {
        stillThere = status === 200;
        return { status: 200, headers: [["content-type", "application/json"]], body: Buffer.from("{}") };
      }
      if (status === 200) return stored;
      if (status === 404) return fail("gone");
      return fail(status >= 500 || status === 429 ? "platform" : "not-comparable");
    };
  };
  return {
    layer,
    intercepted,
    failure: () => failure,
    stillThere: () => stillThere,
    answered: () => answered,
  };
}

/** Headers about a body, which a read has not, and conditions on the record before the write. */
const WRITE_HEADERS: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
]);

/** Where to read the record that `request` writes; undefined when no read returns it. */
function readTargetOf(
  { method, target }: ApiRequest,
  uidPath: string,
  created: string | undefined,
): string | undefined {
  const path = pathOf(target);
  if (method === "PATCH" || method === "DELETE") return path;
  if (method !== "POST" || created === undefined || !isUid(created)) return undefined;
  // `{collection}/{parent}`, or the collection alone. The path of a verb does not end so.
  const parent = uidPath === "" ? "" : `/${uidPath}`;
  if (!path.endsWith(parent)) return undefined;
  const collection = path.slice(0, path.length - parent.length);
  return /^(?:\/[A-Za-z0-9_-]+){3}$/.test(collection) ? `${collection}/${created}` : undefined;
}
