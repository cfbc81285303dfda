/** Forms: a POST that stands for the GET of its path, as in the platform's own gateway. */
import { type HeaderList, header, withoutHeaders } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import type { RequestHead } from "../model/request.ts";
import { isV1, type Router } from "./router.ts";

/** Its media type, to the letter: with a parameter behind it, the gateway takes no POST for a form. */
export const FORM_TYPE = "application/x-www-form-urlencoded";

/** The fields that describe the body that a form had. */
const OF_BODY: ReadonlySet<string> = new Set(["content-encoding", "content-length", "content-type"]);

/** Everything that a query may not hold as itself (RFC 3986 section 3.4). A semicolon stays: a query with one is refused. */
const NOT_IN_QUERY = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]/g;

/**
 * True for a form that runs as the GET of its path: it asks for that by X-HTTP-Method-Override, or no POST of v1 matches and a GET does.
 * Other values of that field change nothing.
 */
export function runsAsGet({ method, target, headers, methodOverride = "" }: RequestHead, route: Router): boolean {
  if (method !== "POST" || header(headers, "content-type") !== FORM_TYPE) return false;
  if (methodOverride.toUpperCase() === "GET") return !target.startsWith("/sts/");
  return methodOverride === "" && isV1(target) && lacks(route, "POST", target) && !lacks(route, "GET", target);
}

/** True where v1 has the path, but not with this method. */
function lacks(route: Router, method: string, target: string): boolean {
  try {
    route(method, target);
    return false;
  } catch (error) {
    return error instanceof Problem && error.reason === "METHOD_NOT_ALLOWED";
  }
}

/** A form as the GET that it stands for. */
export interface FormAsGet {
  readonly method: "GET";
  readonly target: string;
  readonly headers: HeaderList;
}

/** `form` (the body) comes before what is in the query already. Throws `Problem` URI_TOO_LONG beyond `uriBytes`. */
export function formAsGet(
  { target, headers }: Pick<RequestHead, "target" | "headers">,
  form: Uint8Array,
  uriBytes: number,
): FormAsGet {
  // As latin1, one character is one byte, and each byte that has to be is escaped by itself.
  const pairs = Buffer.from(form.buffer, form.byteOffset, form.length)
    .toString("latin1")
    .replace(NOT_IN_QUERY, escaped);
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = [pairs, mark === -1 ? "" : target.slice(mark + 1)].filter((part) => part !== "").join("&");
  const joined = query === "" ? path : `${path}?${query}`;
  if (joined.length > uriBytes) throw formTooLong(uriBytes);
  return { method: "GET", target: joined, headers: withoutHeaders(headers, OF_BODY) };
}

export function formTooLong(uriBytes: number): Problem {
  return new Problem("URI_TOO_LONG", `the request target is longer than ${uriBytes} bytes with the form in its query`);
}

function escaped(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}
