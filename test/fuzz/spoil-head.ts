/** Mutates the head of a request: its request line, its framing and its fields. */
import type { Random } from "../../sandbox/src/seed/prng.ts";
import type { Mutation } from "./mutate.ts";

const FRAMINGS: readonly [string, ...string[]] = [
  "Content-Length: 0",
  "Content-Length: 5",
  "Content-Length: 99999",
  "Content-Length: +5",
  "Content-Length: 5, 5",
  "Content-Length: 0x5",
  "Content-Length: 18446744073709551617",
  "Content-Length:\t3",
  "content-length : 3",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: Chunked",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding: identity",
  "Transfer-Encoding: xchunked",
  "Transfer-Encoding : chunked",
  "Transfer_Encoding: chunked",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding: chunked\r\n , identity",
  "Transfer-Encoding:\x0bchunked",
];
const FIELDS: readonly [string, ...string[]] = [
  "Host: evil.example",
  "Host: api.example",
  "Host:",
  "host: a/b@c",
  "Connection: close",
  "Connection: keep-alive, authorization, x-request-id, host, via",
  "Connection: upgrade",
  "Upgrade: h2c",
  "Upgrade: websocket",
  "Expect: 100-continue",
  "Expect: x",
  "TE: trailers",
  "Trailer: Authorization",
  "Keep-Alive: timeout=5",
  "Proxy-Connection: keep-alive",
  "Proxy-Authorization: Basic eDp5",
  "HTTP2-Settings: AAMAAABkAAQ",
  "Authorization: Bearer other",
  "Authorization: Bearer a,Bearer b",
  "X-HTTP-Method-Override: DELETE",
  "X-HTTP-Method: DELETE",
  "X-Method-Override: DELETE",
  "Grpc-Metadata-Authorization: Bearer other",
  "grpc-timeout: 1n",
  "X-Forwarded-For: 10.0.0.1",
  "X_Forwarded_For: 10.0.0.1",
  "Forwarded: for=1.2.3.4;host=evil",
  "Via: 1.1 carryover",
  "X-Request-Id: a\tb",
  "traceparent: 00-0-0-00",
  "__proto__: x",
  "constructor: x",
  "Content-Type: application/grpc",
  "Content-Type: application/json ; charset=utf-16",
  "Content-Encoding: gzip",
  "Accept-Encoding: gzip;q=, br;q=9",
  "If-Match: *",
  "Range: bytes=0-1",
  "Cookie: a=b",
];
const PIECES: readonly [string, ...string[]] = [
  "/",
  "//",
  "/../",
  "/./",
  "/%2e%2e/",
  "%2F",
  "%2f",
  "%252F",
  "%00",
  "%0d%0aX:1",
  "%5c",
  "\\",
  ";x=1",
  "?",
  "#",
  "&",
  "%",
  "%zz",
  ":check",
  "é",
  "v1",
  "/v2beta1/",
  "http://169.254.169.254/",
  "@evil",
];
const NUMBERS: readonly [string, ...string[]] = [
  "0",
  "-1",
  "00",
  "9007199254740993",
  "18446744073709551616",
  "1e400",
  "9".repeat(400),
];
const METHODS: readonly [string, ...string[]] = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "CONNECT",
  "get",
  "PRI",
  "M-X",
];

/** Where the head ends: behind its last line end. */
export const endOfHead = (text: string): number => {
  const end = text.indexOf("\r\n\r\n");
  return end < 0 ? text.length : end + 2;
};

/** Puts `line` in front of a line of the head that is not the first. */
function withLine(text: string, line: string, random: Random): string {
  const end = endOfHead(text);
  const starts = [...text.slice(0, end).matchAll(/\r\n/g)].map(({ index }) => index + 2);
  const at = starts[random.int(starts.length)] ?? end;
  return `${text.slice(0, at)}${line}\r\n${text.slice(at)}`;
}

function onTarget(text: string, change: (target: string) => string): string {
  const line = text.slice(0, Math.max(0, text.indexOf("\r\n")));
  const from = line.indexOf(" ") + 1;
  const to = line.lastIndexOf(" ");
  return to <= from ? text : text.slice(0, from) + change(text.slice(from, to)) + text.slice(to);
}

/** Escapes one character of the target, or gives one escape back as its byte. */
function recoded(target: string, random: Random): string {
  const at = random.int(Math.max(1, target.length));
  if (target[at] === "%") return target.slice(0, at) + decodeURIComponentByte(target, at) + target.slice(at + 3);
  const code = target.charCodeAt(at) || 0x61;
  const hex = code.toString(16).padStart(2, "0");
  return `${target.slice(0, at)}%${random.chance(0.5) ? hex : hex.toUpperCase()}${target.slice(at + 1)}`;
}

const decodeURIComponentByte = (target: string, at: number): string =>
  String.fromCharCode(Number.parseInt(target.slice(at + 1, at + 3), 16) || 0);

const flipCase = (letter: string): string =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();

export const spoilHead: readonly [Mutation, ...Mutation[]] = [
  ({ text, random }) => withLine(text, random.pick(FRAMINGS), random),
  ({ text, random }) => {
    const framing = random.pick(FRAMINGS);
    return text.replace(/^(?:content-length|transfer-encoding):.*$/im, () => framing);
  },
  ({ text, random }) => withLine(text, random.pick(FIELDS), random),
  ({ text, random }) => withLine(text, random.pick(FIELDS), random),
  ({ text, random }) =>
    onTarget(text, (target) => {
      const at = random.int(target.length + 1);
      return target.slice(0, at) + random.pick(PIECES) + target.slice(at);
    }),
  ({ text, random }) => onTarget(text, (target) => recoded(target, random)),
  ({ text, random }) => text.replace(/^[A-Za-z-]+/, () => random.pick(METHODS)),
  ({ text, random }) => text.replace(/HTTP\/1\.1/, () => random.pick(["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "http/1.1"])),
  ({ text, random }) => {
    const digits = [...text.matchAll(/\d+/g)];
    const found = digits[random.int(digits.length)];
    if (found === undefined) return text;
    const number = random.pick(NUMBERS);
    return text.slice(0, found.index) + number + text.slice(found.index + found[0].length);
  },
  ({ text, random }) => {
    const at = random.int(endOfHead(text));
    return text.slice(0, at) + flipCase(text[at] ?? "") + text.slice(at + 1);
  },
  ({ text, random }) => withLine(text, `X-Long: ${"l".repeat(random.int(20_000))}`, random),
  ({ text, random }) =>
    withLine(text, Array.from({ length: random.int(120) }, (_, i) => `X-${i}: 1`).join("\r\n"), random),
];
