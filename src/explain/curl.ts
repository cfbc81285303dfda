/** Which request would this curl line send? */
import { parseArgs } from "node:util";
import { bodyOf, type Data, headerOf, requestOf } from "./assemble.ts";
import { type AskedRequest, type ReadFile, unclear } from "./request.ts";
import { quotedUrl } from "./secrets.ts";

/** Options of curl's manual page that take a value, each with its letter. */
const VALUED = `request X, url, header H, data d, data-ascii, data-binary, data-raw, data-urlencode, json, user-agent A, referer e,
  cookie b, user u, oauth2-bearer, form F, upload-file T, output o, max-time m, connect-timeout, retry, retry-delay, retry-max-time,
  write-out w, cacert, capath, cert E, key, proxy x, resolve, connect-to, dump-header D, cookie-jar c, interface, limit-rate, max-redirs,
  ciphers, stderr, trace-ascii`;
/** Options that stand alone. */
const PLAIN = `get G, head I, next, silent s, show-error S, insecure k, location L, verbose v, include i, fail f, globoff g, compressed,
  progress-bar #, no-buffer N, http1.1, http2, fail-with-body, ipv4 4, ipv6 6, remote-name O, no-progress-meter, tlsv1.2, path-as-is, ssl-reqd`;

const optionsOf = (names: string, type: "string" | "boolean") =>
  names.split(",").map((each) => {
    const [name = "", short] = each.trim().split(" ");
    return [name, short === undefined ? { type } : { type, short }] as const;
  });
const OPTIONS = new Map([...optionsOf(VALUED, "string"), ...optionsOf(PLAIN, "boolean")]);

/**
 * Reads `words` (the first is `curl`). Unknown options are named in the notes and ignored. Throws `Problem`
 * INVALID_REQUEST for what is no single request, and what `read` throws for a file.
 */
export function readCurl(words: readonly string[], read: ReadFile): AskedRequest {
  // parseArgs takes such a word apart letter by letter, and slowly.
  if (words.some((word) => /^-\w{1000}/.test(word))) throw unclear("put a blank between an option and a long value");
  const options = Object.fromEntries(OPTIONS);
  const { tokens } = parseArgs({ args: words.slice(1), options, strict: false, tokens: true });
  const given = new Map<string, string>();
  const urls: string[] = [];
  const headers: (readonly [string, string])[] = [];
  const data: Data[] = [];
  const notes: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") urls.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value = "" } = token;
    const option = OPTIONS.get(name);
    if (option === undefined) notes.push(`curl's option ${rawName} is not known here and was ignored`);
    if (option?.type === "string" && token.value === undefined) throw unclear(`${rawName} needs a value`);
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
        throw unclear("multipart forms (-F) are no requests of this API");
      case "upload-file":
        throw unclear("uploads (-T) are not read here: give the body with --data-binary @file");
      case "next":
        throw unclear("only one request at a time: the line has --next");
      default:
        given.set(name, value);
    }
  }
  const [url, other] = urls;
  if (url === undefined) throw unclear("the curl line names no URL");
  if (other !== undefined) throw unclear(`only one URL at a time: there is also ${quotedUrl(other)}`);
  const inQuery = given.has("get");
  const method = given.get("request") ?? (given.has("head") ? "HEAD" : data.length > 0 && !inQuery ? "POST" : "GET");
  return requestOf({ method, url, headers, body: bodyOf(data, read), notes }, inQuery ? "query" : "body");
}
