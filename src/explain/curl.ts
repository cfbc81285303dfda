/** Which request would this curl line send? */

import { bodyOf, type Data, headerOf, type Parts, requestOf } from "./assemble.ts";
import { type AskedRequest, type ReadFile, unclear } from "./request.ts";
import { quotedUrl } from "./secrets.ts";

/** What an option of curl does to the request; `value`: the word that belongs to it. */
type Effect = (draft: Draft, value: string) => void;

interface Draft {
  method: string | undefined;
  url: string | undefined;
  query: boolean;
  head: boolean;
  readonly headers: [string, string][];
  readonly data: Data[];
  readonly notes: string[];
}

const data =
  (kind: Data["kind"]): Effect =>
  (draft, value) => {
    draft.data.push({ kind, value });
  };
const header =
  (name: string, of: (value: string) => string = (value) => value): Effect =>
  (draft, value) => {
    draft.headers.push([name, of(value)]);
  };
const refused =
  (what: string): Effect =>
  () => {
    throw unclear(what);
  };
/** Takes a word, and changes nothing that carryover sees. */
const nothing: Effect = () => {};

/** Options that take a word (curl's manual page). */
const VALUED: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ["--request", setMethod],
  ["--url", setUrl],
  [
    "--header",
    (draft, value) => {
      const field = headerOf(value);
      // `-H 'Name:'` takes a field of curl's own out.
      if (field !== undefined) draft.headers.push([...field]);
    },
  ],
  ["--data", data("data")],
  ["--data-ascii", data("data")],
  ["--data-binary", data("data")],
  ["--data-raw", data("raw")],
  ["--data-urlencode", data("urlencode")],
  [
    "--json",
    (draft, value) => {
      draft.data.push({ kind: "json", value });
      draft.headers.push(["content-type", "application/json"], ["accept", "application/json"]);
    },
  ],
  ["--user-agent", header("user-agent")],
  ["--referer", header("referer")],
  ["--cookie", header("cookie")],
  ["--user", header("authorization", () => "Basic credentials")],
  ["--oauth2-bearer", header("authorization", () => "Bearer token")],
  ["--form", refused("multipart forms (-F) are no requests of this API")],
  ["--upload-file", refused("uploads (-T) are not read here: give the body with --data-binary @file")],
  ...["--output", "--max-time", "--connect-timeout", "--retry", "--retry-delay", "--retry-max-time", "--write-out"].map(
    (name): [string, Effect] => [name, nothing],
  ),
  ...["--cacert", "--capath", "--cert", "--key", "--proxy", "--resolve", "--connect-to", "--dump-header"].map(
    (name): [string, Effect] => [name, nothing],
  ),
  ...["--cookie-jar", "--interface", "--limit-rate", "--max-redirs", "--ciphers", "--stderr", "--trace-ascii"].map(
    (name): [string, Effect] => [name, nothing],
  ),
]);

/** Options that stand alone. */
const PLAIN: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ["--get", toQuery],
  ["--head", toHead],
  ["--next", refused("only one request at a time: the line has --next")],
  ...["--silent", "--show-error", "--insecure", "--location", "--verbose", "--include", "--fail", "--globoff"].map(
    (name): [string, Effect] => [name, nothing],
  ),
  ...["--compressed", "--progress-bar", "--no-buffer", "--http1.1", "--http2", "--fail-with-body", "--ipv4"].map(
    (name): [string, Effect] => [name, nothing],
  ),
  ...["--ipv6", "--remote-name", "--no-progress-meter", "--tlsv1.2", "--path-as-is", "--ssl-reqd"].map(
    (name): [string, Effect] => [name, nothing],
  ),
]);

const SHORT: ReadonlyMap<string, string> = new Map([
  ["X", "--request"],
  ["H", "--header"],
  ["d", "--data"],
  ["A", "--user-agent"],
  ["e", "--referer"],
  ["b", "--cookie"],
  ["u", "--user"],
  ["F", "--form"],
  ["T", "--upload-file"],
  ["o", "--output"],
  ["m", "--max-time"],
  ["w", "--write-out"],
  ["E", "--cert"],
  ["x", "--proxy"],
  ["D", "--dump-header"],
  ["c", "--cookie-jar"],
  ["G", "--get"],
  ["I", "--head"],
  ["s", "--silent"],
  ["S", "--show-error"],
  ["k", "--insecure"],
  ["L", "--location"],
  ["v", "--verbose"],
  ["i", "--include"],
  ["f", "--fail"],
  ["g", "--globoff"],
  ["N", "--no-buffer"],
  ["O", "--remote-name"],
  ["4", "--ipv4"],
  ["6", "--ipv6"],
  ["#", "--progress-bar"],
]);

/**
 * Reads `words` (the first is `curl`). Unknown options are named in the notes and ignored. Throws `Problem`
 * INVALID_REQUEST for what is no single request, and what `read` throws for a file.
 */
export function readCurl(words: readonly string[], read: ReadFile): AskedRequest {
  const draft: Draft = {
    method: undefined,
    url: undefined,
    query: false,
    head: false,
    headers: [],
    data: [],
    notes: [],
  };
  const rest = words.slice(1).values();
  for (const word of rest) {
    if (word.startsWith("--") && word !== "--") applyLong(word, rest, draft);
    else if (word.startsWith("-") && word.length > 1 && word !== "--") applyShort(word.slice(1), rest, draft);
    else if (word !== "--") setUrl(draft, word);
  }
  if (draft.url === undefined) throw unclear("the curl line names no URL");
  const body = bodyOf(draft.data, read);
  const method = draft.method ?? (draft.head ? "HEAD" : draft.data.length > 0 && !draft.query ? "POST" : "GET");
  const parts: Parts = { method, url: draft.url, headers: draft.headers, body, notes: draft.notes };
  return requestOf(parts, draft.query ? "query" : "body");
}

function setMethod(draft: Draft, value: string): void {
  draft.method = value;
}

function toQuery(draft: Draft): void {
  draft.query = true;
}

function toHead(draft: Draft): void {
  draft.head = true;
}

function setUrl(draft: Draft, value: string): void {
  if (draft.url !== undefined) throw unclear(`only one URL at a time: there is also ${quotedUrl(value)}`);
  draft.url = value;
}

function applyLong(name: string, rest: Iterator<string>, draft: Draft): void {
  const valued = VALUED.get(name);
  if (valued !== undefined) valued(draft, wordBehind(name, rest));
  else apply(name, draft);
}

/** `-sSX PUT`, `-XPUT`: letters that stand alone, until one takes the rest of the word or the next one. */
function applyShort(letters: string, rest: Iterator<string>, draft: Draft): void {
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters.charAt(at);
    const name = SHORT.get(letter) ?? `-${letter}`;
    const valued = VALUED.get(name);
    if (valued === undefined) {
      apply(name, draft);
      continue;
    }
    const inWord = letters.slice(at + 1);
    valued(draft, inWord === "" ? wordBehind(`-${letter}`, rest) : inWord);
    return;
  }
}

function apply(name: string, draft: Draft): void {
  const effect = PLAIN.get(name);
  // Behind an equals sign, which curl does not know, stands a value: maybe a token.
  if (effect === undefined)
    draft.notes.push(`curl's option ${name.replace(/=.*$/s, "")} is not known here and was ignored`);
  else effect(draft, "");
}

function wordBehind(name: string, rest: Iterator<string>): string {
  const next = rest.next();
  if (next.done === true) throw unclear(`${name} needs a value`);
  return next.value;
}
