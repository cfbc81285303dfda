/** How do method, URL, header fields and data become one request? */
import { type AskedRequest, type ReadFile, unclear } from "./request.ts";
import { quotedUrl } from "./secrets.ts";

/** One piece of data, as curl's options have it: `raw` never names a file. */
export interface Data {
  readonly kind: "data" | "raw" | "json" | "urlencode";
  readonly value: string;
}

export interface Parts {
  readonly method: string;
  /** A whole URL, one without scheme (`$HOST/iam/…`), or only a path. */
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  readonly notes: readonly string[];
}

/** `Name: value` as a pair with a lower-case name; undefined for `Name:`. Throws `Problem` INVALID_REQUEST. */
export function headerOf(text: string): readonly [string, string] | undefined {
  const colon = text.indexOf(":");
  const name = text.slice(0, Math.max(0, colon)).trim().toLowerCase();
  if (name === "") throw unclear('a header field is written as "Name: value"');
  const value = text.slice(colon + 1).trim();
  return value === "" ? undefined : [name, value];
}

/** All data as one body: pieces of JSON one after another, others joined by `&` as curl does. */
export function bodyOf(data: readonly Data[], read: ReadFile): Uint8Array {
  const pieces = data.map(({ kind, value }) => {
    if (kind === "urlencode") return Buffer.from(encoded(value, read));
    return kind !== "raw" && value.startsWith("@") ? read(value.slice(1)) : Buffer.from(value);
  });
  const between = data.some(({ kind }) => kind === "json") ? "" : "&";
  return Buffer.concat(pieces.flatMap((piece, index) => (index === 0 ? [piece] : [Buffer.from(between), piece])));
}

/** `content`, `=content`, `name=content`, `@file`, `name@file`: only the content is encoded. */
function encoded(value: string, read: ReadFile): string {
  const [, name = "", sign = "", rest = ""] = /^([^=@]*)([=@])?(.*)$/s.exec(value) ?? [];
  if (sign === "") return encodeURIComponent(value);
  const content = sign === "@" ? Buffer.from(read(rest)).toString("utf8") : rest;
  return `${name === "" ? "" : `${name}=`}${encodeURIComponent(content)}`;
}

/** The request. `place`: data goes into the body, or behind the URL (curl's `-G`). Throws `Problem` INVALID_REQUEST. */
export function requestOf(parts: Parts, place: "body" | "query"): AskedRequest {
  if (!/^[A-Z]+$/.test(parts.method)) throw unclear(`${JSON.stringify(parts.method)} is no method`);
  const { target, notes } = targetOf(parts.url);
  const data = Buffer.from(parts.body).toString("utf8");
  const mark = target.includes("?") ? "&" : "?";
  return {
    method: parts.method,
    target: place === "query" && data !== "" ? `${target}${mark}${data}` : target,
    headers: parts.headers,
    body: place === "query" ? new Uint8Array() : parts.body,
    notes: [...parts.notes, ...notes],
  };
}

/** `$NAME` and `${NAME}`: whoever pastes a line seldom pastes what its variables hold. */
const VARIABLE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

/** Path and query of a URL exactly as written: parsing it would resolve what carryover must see. */
function targetOf(url: string): { readonly target: string; readonly notes: readonly string[] } {
  const hash = url.indexOf("#");
  const whole = hash < 0 ? url : url.slice(0, hash);
  const bare = whole.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\//, "");
  const hasOrigin = bare !== whole || !whole.startsWith("/");
  const path = hasOrigin ? bare.replace(/^[^/?]*/, "") : whole;
  const rooted = path.startsWith("/") ? path : `/${path}`;
  const notes: string[] = [];
  const target = rooted.replace(VARIABLE, (variable, braced?: string, plain?: string) => {
    const name = braced ?? plain ?? "";
    notes.push(`${variable} in the URL is read as ${JSON.stringify(name)}`);
    return name;
  });
  if (hasOrigin && rooted === "/") throw unclear(`${quotedUrl(url)} has no path; expected one such as /iam/v1/groups`);
  return { target, notes };
}
