/** Reading the request to explain: a method and a path, or a whole curl line. */

import { parseArgs } from "node:util";
import { type HeaderList, header } from "../../model/http.ts";
import { Problem } from "../../model/problem.ts";
import { MASKED } from "../../model/secrets.ts";
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
  /** What of the given text was ignored, or read in another way than written. */
  readonly notes: readonly string[];
}

/** What was given, on a command line or in a query. */
export interface GivenRequest {
  /** `PUT /iam/v1/groups/UID`, only a path, or a whole curl line. */
  readonly text: string;
  /** `-d`: the body, or `@file`. */
  readonly data?: string;
  /** `-H`: `Name: value`. */
  readonly headers: readonly string[];
  /** `-X`. */
  readonly method?: string;
}

/** The request that `given` means. Throws `Problem` INVALID_REQUEST, and what `read` throws for a file. */
export function readRequest(given: GivenRequest, read: ReadFile): AskedRequest {
  const text = given.text.trim();
  if (text === "") throw invalidRequest("there is no request; expected 'PUT /iam/v1/groups/UID' or a curl line");
  if (!/^(?:\$\s+)?curl(?:\s|$)/.test(text)) return readPlain(text, given, read);
  const { words, notes } = splitWords(text.replace(/^\$\s+/, ""));
  const request = readCurl(words, read);
  if (given.data !== undefined || given.method !== undefined || given.headers.length > 0) {
    throw invalidRequest("a curl line holds everything: give -X, -H and -d inside of it");
  }
  return { ...request, notes: [...notes, ...request.notes] };
}

function readPlain(text: string, given: GivenRequest, read: ReadFile): AskedRequest {
  const [, named, url = text] = /^([A-Za-z]+)\s+(\S.*)$/s.exec(text) ?? [];
  const [first = "", ...rest] = url.split(/\s/);
  // The rest is not repeated: it may be a token.
  if (rest.length > 0)
    throw invalidRequest(`a request is a method and a path; there is more after ${quotedUrl(first)}`);
  const data = given.data === undefined ? [] : [{ kind: "data", value: given.data } as const];
  const method = given.method ?? named?.toUpperCase() ?? (data.length > 0 ? "POST" : "GET");
  const headers = given.headers.flatMap((field) => {
    const pair = headerOf(field);
    return pair === undefined ? [] : [pair];
  });
  return requestOf({ method, url, headers, body: bodyOf(data, read), notes: [] }, "body");
}

/** Gives the bytes of a file (`@body.json`); `-` is standard input. Throws when it cannot. */
type ReadFile = (path: string) => Uint8Array;

/** `what`: why the text is no request, and what is expected. */
export function invalidRequest(what: string): Problem {
  return new Problem("INVALID_REQUEST", what);
}

/** One piece of data, as curl's options have it: `raw` never names a file. */
interface CurlData {
  readonly kind: "data" | "raw" | "json" | "urlencode";
  readonly value: string;
}

interface RequestParts extends Omit<AskedRequest, "target"> {
  /** A whole URL, one without scheme (`$HOST/iam/…`), or only a path. */
  readonly url: string;
}

/** `Name: value` as a pair with a lower-case name; undefined for `Name:`. Throws `Problem` INVALID_REQUEST. */
function headerOf(text: string): readonly [string, string] | undefined {
  const colon = text.indexOf(":");
  const name = text.slice(0, Math.max(0, colon)).trim().toLowerCase();
  if (name === "") throw invalidRequest('a header field is written as "Name: value"');
  const value = text.slice(colon + 1).trim();
  return value === "" ? undefined : [name, value];
}

/** All data as one body: pieces of JSON one after another, others joined by `&` as curl does. */
function bodyOf(data: readonly CurlData[], read: ReadFile): Uint8Array {
  const pieces = data.map(({ kind, value }) => {
    if (kind === "urlencode") return Buffer.from(urlencodedData(value, read));
    return kind !== "raw" && value.startsWith("@") ? read(value.slice(1)) : Buffer.from(value);
  });
  const between = data.some(({ kind }) => kind === "json") ? "" : "&";
  return Buffer.concat(pieces.flatMap((piece, index) => (index === 0 ? [piece] : [Buffer.from(between), piece])));
}

/** `content`, `=content`, `name=content`, `@file`, `name@file`: only the content is encoded. */
function urlencodedData(value: string, read: ReadFile): string {
  const [, name = "", sign = "", rest = ""] = /^([^=@]*)([=@])?(.*)$/s.exec(value) ?? [];
  if (sign === "") return encodeURIComponent(value);
  const content = sign === "@" ? Buffer.from(read(rest)).toString("utf8") : rest;
  return `${name === "" ? "" : `${name}=`}${encodeURIComponent(content)}`;
}

/** `dataIn`: data goes into the body, or after the URL (curl's `-G`). Throws `Problem` INVALID_REQUEST. */
function requestOf(parts: RequestParts, dataIn: "body" | "query"): AskedRequest {
  if (!/^[A-Z]+$/.test(parts.method)) throw invalidRequest(`${JSON.stringify(parts.method)} is no method`);
  const { target, notes } = targetOf(parts.url);
  const data = Buffer.from(parts.body).toString("utf8");
  const mark = target.includes("?") ? "&" : "?";
  // curl calls all data a form unless told otherwise; JSON is read as what it is meant to be.
  const isForm =
    dataIn === "body" && /^[^{["]/.test(data.trim()) && header(parts.headers, "content-type") === undefined;
  return {
    method: parts.method,
    target: dataIn === "query" && data !== "" ? `${target}${mark}${data}` : target,
    headers: isForm ? [...parts.headers, ["content-type", FORM_TYPE]] : parts.headers,
    body: dataIn === "query" ? new Uint8Array() : parts.body,
    notes: [...parts.notes, ...notes],
  };
}

/** `$NAME` and `${NAME}`: a pasted line seldom comes with the values of its variables. */
const SHELL_VARIABLE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

/** Path and query of a URL exactly as written: parsing it would resolve what carryover must see. */
function targetOf(url: string): { readonly target: string; readonly notes: readonly string[] } {
  const hash = url.indexOf("#");
  const whole = hash < 0 ? url : url.slice(0, hash);
  const bare = whole.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\//, "");
  const hasOrigin = bare !== whole || !whole.startsWith("/");
  const path = hasOrigin ? bare.replace(/^[^/?]*/, "") : whole;
  const rooted = path.startsWith("/") ? path : `/${path}`;
  const notes: string[] = [];
  const target = rooted.replace(SHELL_VARIABLE, (variable, braced?: string, plain?: string) => {
    const name = braced ?? plain ?? "";
    notes.push(`${variable} in the URL is read as ${JSON.stringify(name)}`);
    return name;
  });
  if (hasOrigin && rooted === "/")
    throw invalidRequest(`${quotedUrl(url)} has no path; expected one such as /iam/v1/groups`);
  return { target, notes };
}

/** Options of curl's manual page that take a value, each with its letter. */
const VALUE_OPTIONS = `request X, url, header H, data d, data-ascii, data-binary, data-raw, data-urlencode, json, user-agent A, referer e,
  cookie b, user u, oauth2-bearer, form F, upload-file T, output o, max-time m, connect-timeout, retry, retry-delay, retry-max-time,
  write-out w, cacert, capath, cert E, key, proxy x, resolve, connect-to, dump-header D, cookie-jar c, interface, limit-rate, max-redirs,
  ciphers, stderr, trace-ascii`;
/** Options that stand alone. */
const PLAIN_OPTIONS = `get G, head I, next, silent s, show-error S, insecure k, location L, verbose v, include i, fail f, globoff g, compressed,
  progress-bar #, no-buffer N, http1.1, http2, fail-with-body, ipv4 4, ipv6 6, remote-name O, no-progress-meter, tlsv1.2, path-as-is, ssl-reqd`;

const curlOptions = (names: string, type: "string" | "boolean") =>
  names.split(",").map((each) => {
    const [name = "", short] = each.trim().split(" ");
    return [name, short === undefined ? { type } : { type, short }] as const;
  });
const CURL_OPTIONS = new Map([...curlOptions(VALUE_OPTIONS, "string"), ...curlOptions(PLAIN_OPTIONS, "boolean")]);

/**
 * Reads `words` (the first is `curl`). Unknown options are named in the notes and ignored. Throws `Problem`
 * INVALID_REQUEST for what is no single request, and what `read` throws for a file.
 */
function readCurl(words: readonly string[], read: ReadFile): AskedRequest {
  // parseArgs takes such a word apart letter by letter, and slowly.
  if (words.some((word) => /^-\w{1000}/.test(word)))
    throw invalidRequest("put a blank between an option and a long value");
  const options = Object.fromEntries(CURL_OPTIONS);
  const { tokens } = parseArgs({ args: words.slice(1), options, strict: false, tokens: true });
  const given = new Map<string, string>();
  const urls: string[] = [];
  const headers: (readonly [string, string])[] = [];
  const data: CurlData[] = [];
  const notes: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") urls.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value = "" } = token;
    const option = CURL_OPTIONS.get(name);
    if (option === undefined) notes.push(`curl's option ${rawName} is not known here and was ignored`);
    if (option?.type === "string" && token.value === undefined) throw invalidRequest(`${rawName} needs a value`);
    switch (name) {
      case "url":
        urls.push(value);
        break;
      case "header": {
        const field = headerOf(value);
        // `-H 'Name:'` takes a field of curl's own out.
        if (field !== undefined) headers.push(field);
        break;
      }
      case "data":
      case "data-ascii":
      case "data-binary":
        data.push({ kind: "data", value });
        break;
      case "data-raw":
        data.push({ kind: "raw", value });
        break;
      case "data-urlencode":
        data.push({ kind: "urlencode", value });
        break;
      case "json":
        data.push({ kind: "json", value });
        headers.push(["content-type", "application/json"], ["accept", "application/json"]);
        break;
      case "user-agent":
      case "referer":
      case "cookie":
        headers.push([name, value]);
        break;
      case "user":
        headers.push(["authorization", "Basic credentials"]);
        break;
      case "oauth2-bearer":
        headers.push(["authorization", "Bearer token"]);
        break;
      case "form":
        throw invalidRequest("multipart forms (-F) are no requests of this API");
      case "upload-file":
        throw invalidRequest("uploads (-T) are not read here: give the body with --data-binary @file");
      case "next":
        throw invalidRequest("only one request at a time: the line has --next");
      default:
        given.set(name, value);
    }
  }
  const [url, other] = urls;
  if (url === undefined) throw invalidRequest("the curl line names no URL");
  if (other !== undefined) throw invalidRequest(`only one URL at a time: there is also ${quotedUrl(other)}`);
  const inQuery = given.has("get");
  const method = given.get("request") ?? (given.has("head") ? "HEAD" : data.length > 0 && !inQuery ? "POST" : "GET");
  return requestOf({ method, url, headers, body: bodyOf(data, read), notes }, inQuery ? "query" : "body");
}

/** What a backslash escapes inside double quotes (POSIX shell, section 2.2.3). */
const ESCAPED_IN_QUOTES: ReadonlySet<string> = new Set(["$", "`", '"', "\\"]);

/**
 * Splits `text` into words as a POSIX shell would: quotes, backslashes, a backslash at the end of a line. `$NAME` and `$(…)`
 * stay as they are, since nothing is expanded or run. Reading ends at `|`, `;` and redirections; `notes` says what was left
 * out or left as it is. Throws `Problem` INVALID_REQUEST for `$'…'`, a bare `&`, and open quotes.
 */
export function splitWords(text: string): { readonly words: readonly string[]; readonly notes: readonly string[] } {
  const words: string[] = [];
  const notes = new Set<string>();
  /** Undefined between words; `''` is an empty word. */
  let word: string | undefined;
  let isQuoted = false;
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  for (let at = 0; at < text.length; ) {
    const char = text.charAt(at);
    let length = 1;
    let added: string | undefined;
    if (char === "$" || char === "`") {
      added = expansionAt(text.slice(at), isQuoted);
      length = added.length;
      if (added !== "$") notes.add(`${withoutDefault(added)} is left as it is: nothing is expanded here`);
    } else if (char === "\\") {
      const next = text.startsWith("\\\r\n", at) && !isQuoted ? "\r\n" : text.charAt(at + 1);
      length += isQuoted ? 1 : next.length;
      const isContinued = next === "\n" || next === "\r\n";
      if (isQuoted) added = isContinued ? "" : ESCAPED_IN_QUOTES.has(next) ? next : `\\${next}`;
      else if (!isContinued && next !== "") added = next;
    } else if (char === '"') {
      isQuoted = !isQuoted;
      added = "";
    } else if (isQuoted) {
      added = char;
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end < 0) throw invalidRequest("a single quote is never closed");
      added = text.slice(at + 1, end);
      length = end + 1 - at;
    } else if (char === "&") {
      throw invalidRequest('a bare "&" ends the command in a shell: put quotes around the URL');
    } else if (endsCommand(char, words, word)) {
      // The number of `2>` is no word.
      if ((char === ">" || char === "<") && /^\d$/.test(word ?? "")) word = undefined;
      if (text.slice(at).trim() !== "")
        notes.add(`ignored what follows the command: ${char === "\n" ? "further lines" : char}`);
      break;
    } else if (/\s/.test(char)) {
      endWord();
    } else {
      added = char;
    }
    if (added !== undefined) word = (word ?? "") + added;
    at += length;
  }
  if (isQuoted) throw invalidRequest("a double quote is never closed");
  endWord();
  return { words, notes: [...notes] };
}

/** Another command or a redirection begins at `char`, or a comment, or a further line. A pasted text may begin with empty lines. */
function endsCommand(char: string, words: readonly string[], word: string | undefined): boolean {
  if (char === "#") return word === undefined;
  return /[|;<>]/.test(char) || (char === "\n" && (words.length > 0 || word !== undefined));
}

/** The default of an unset variable may be a secret. */
function withoutDefault(expansion: string): string {
  return expansion.replace(/^(\$\{\w+)[^\w}].*\}$/s, `$1${MASKED}}`);
}

/** `$NAME`, `${NAME}`, `$(command)` or backquotes at the start of `rest`; else `$`. */
function expansionAt(rest: string, isQuoted: boolean): string {
  if (!isQuoted && (rest.startsWith("$'") || rest.startsWith('$"')))
    throw invalidRequest(`${rest.slice(0, 2)}… is a quoting that is not read here: write it with plain quotes`);
  if (rest.startsWith("$(")) return rest.slice(0, closingParenthesis(rest));
  const simple = /^(?:\$\{[^}]*\}|\$[A-Za-z_]\w*|`[^`]*`)/.exec(rest)?.[0];
  if (simple === undefined && rest.startsWith("`")) throw invalidRequest("a backquote is never closed");
  // Also keeps the search linear: each one would be looked for to the end of the text.
  if (simple === undefined && rest.startsWith("${")) throw invalidRequest("${ is never closed");
  return simple ?? "$";
}

/** The length up to and with the `)` of `$(`, nested ones counted. */
function closingParenthesis(rest: string): number {
  let depth = 0;
  for (let at = 1; at < rest.length; at += 1) {
    if (rest[at] === "(") depth += 1;
    else if (rest[at] === ")") depth -= 1;
    if (depth === 0) return at + 1;
  }
  throw invalidRequest("$( is never closed");
}
