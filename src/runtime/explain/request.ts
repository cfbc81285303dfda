/** Reads the request to explain: a method, and a path or a URL. */

import { type HeaderList, header } from "../../model/http.ts";
import { Problem } from "../../model/problem.ts";
import { FORM_TYPE } from "../../router/form.ts";
import { quotedUrl } from "./secrets.ts";

/** A request as a client would send it. */
export interface AskedRequest {
  readonly method: string;
  /** Origin form, raw: what the client would put on the wire. */
  readonly target: string;
  /** Lower-case names, in order. */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** Parts of the given text that were read in another way than written. */
  readonly notes: readonly string[];
}

/** The request as given on a command line or in a query. */
export interface GivenRequest {
  /** `PUT /iam/v1/groups/UID`, or only a path or a URL. */
  readonly text: string;
  /** `-d`: the body, or `@file`. */
  readonly data?: string;
  /** `-H`: `Name: value`. */
  readonly headers: readonly string[];
  /** `-X`. */
  readonly method?: string;
}

/** Returns the bytes of a file (`@body.json`); `-` is standard input. Throws when it cannot. */
type ReadFile = (path: string) => Uint8Array;

const EXPECTED = "expected 'PUT /iam/v1/groups/UID', with header fields in -H and the body in -d";

/** The request that `given` means. Throws `Problem` INVALID_REQUEST, and what `read` throws for a file. */
export function readRequest(given: GivenRequest, read: ReadFile): AskedRequest {
  const text = given.text.trim();
  if (text === "") throw invalidRequest(`there is no request; ${EXPECTED}`);
  if (/^curl(?:\s|$)/.test(text)) throw invalidRequest(`curl command lines are not read; ${EXPECTED}`);
  const [, named, url = text] = /^([A-Za-z]+)\s+(\S.*)$/s.exec(text) ?? [];
  const [first = "", ...rest] = url.split(/\s/);
  // The rest is not repeated: it may be a token.
  if (rest.length > 0)
    throw invalidRequest(`a request is a method and a path; there is more after ${quotedUrl(first)}`);
  const method = given.method ?? named?.toUpperCase() ?? (given.data === undefined ? "GET" : "POST");
  if (!/^[A-Z]+$/.test(method)) throw invalidRequest(`${JSON.stringify(method)} is not a method`);
  const body = given.data === undefined ? new Uint8Array() : bodyOf(given.data, read);
  const headers = given.headers.flatMap((field) => {
    const pair = headerOf(field);
    return pair === undefined ? [] : [pair];
  });
  // As curl's `-d` has it, except that JSON is read as what it is meant to be.
  const isForm = isText(body) && header(headers, "content-type") === undefined;
  return {
    method,
    target: targetOf(url),
    headers: isForm ? [...headers, ["content-type", FORM_TYPE]] : headers,
    body,
    notes: [],
  };
}

/** `what`: why the text is not a request, and what is expected. */
export function invalidRequest(what: string): Problem {
  return new Problem("INVALID_REQUEST", what);
}

/** `Name: value` as a pair with a lower-case name; undefined for `Name:`. Throws `Problem` INVALID_REQUEST. */
function headerOf(text: string): readonly [string, string] | undefined {
  const colon = text.indexOf(":");
  const name = text.slice(0, Math.max(0, colon)).trim().toLowerCase();
  if (name === "") throw invalidRequest('a header field is written as "Name: value"');
  const value = text.slice(colon + 1).trim();
  return value === "" ? undefined : [name, value];
}

function bodyOf(data: string, read: ReadFile): Uint8Array {
  return data.startsWith("@") ? read(data.slice(1)) : Buffer.from(data);
}

/** Whether `body` is there and begins like no JSON that v1 reads. */
function isText(body: Uint8Array): boolean {
  return /^[^{["]/.test(Buffer.from(body).toString("utf8").trim());
}

/** Path and query of a URL exactly as written: parsing it would resolve what carryover must see. */
function targetOf(url: string): string {
  const hash = url.indexOf("#");
  const whole = hash < 0 ? url : url.slice(0, hash);
  const bare = whole.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\//, "");
  const hasOrigin = bare !== whole || !whole.startsWith("/");
  const path = hasOrigin ? bare.replace(/^[^/?]*/, "") : whole;
  const rooted = path.startsWith("/") ? path : `/${path}`;
  if (hasOrigin && rooted === "/")
    throw invalidRequest(`${quotedUrl(url)} has no path; expected one such as /iam/v1/groups`);
  return rooted;
}
