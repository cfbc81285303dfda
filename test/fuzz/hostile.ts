/** Hostile upstream responses: a grammar of broken and odd HTTP around good, odd and broken JSON. */
import { gzipSync } from "node:zlib";
import type { Random } from "../../sandbox/src/seed/prng.ts";
import type { Json } from "../../src/model/json.ts";
import { CODINGS, LENGTHS, NO_FIELDS } from "../support/hostile/fields.ts";
import { oddJson } from "./odd-json.ts";

/** What to do on the connection, step by step. */
export type Step =
  | { readonly write: string }
  | { readonly waitMs: number }
  /** `stall` leaves the connection open and says no more. */
  | { readonly finally: "reset" | "end" | "stall" };

/** Marks everything that no client may ever see: bytes after a response, and unsolicited responses. */
export const POISON = "p0is0n";

type Some<T> = readonly [T, ...T[]];

const LINES: Some<string> = [
  "HTTP/1.1 200",
  "HTTP/1.0 200 OK",
  "HTTP/2 200 OK",
  "HTTP/1.1  200 OK",
  "HTTP/1.1 2000 OK",
  "HTTP/1.1 20 OK",
  "HTTP/1.1 000 No",
  "HTTP/1.1 -1 No",
  "HTTP/1.1 99999999999999999999 No",
  "HTTP/1.1 200 \xff\xfe",
  "HTTP/1.1 200 \0",
  "http/1.1 200 OK",
  "ICY 200 OK",
  "SSH-2.0-OpenSSH",
  "",
  "{}",
];
const STATUSES: Some<number> = [
  101, 199, 201, 202, 203, 204, 205, 206, 226, 299, 300, 301, 302, 303, 304, 307, 308, 399, 400, 401, 402, 403, 404,
  405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 425, 426, 428, 429, 431, 451, 499, 500,
  501, 502, 503, 504, 505, 507, 508, 511, 520, 599, 600, 799, 999,
];
const FIELDS: Some<string> = [
  "Content-Type: text/html",
  "Content-Type: application/json; charset=utf-16",
  "Content-Type: application/grpc",
  "Content-Type: \xff",
  "Content-Encoding: lzma",
  "Content-Encoding: gzip",
  "Content-Encoding: gzip, gzip, gzip, gzip, gzip, gzip",
  "Content-Encoding: br",
  "Content-Encoding: identity",
  "Connection: close",
  "Connection: X-Hop, content-type, content-length",
  "Connection: upgrade\r\nUpgrade: websocket",
  "Keep-Alive: timeout=0",
  "Trailer: X-Trailer",
  "Proxy-Authenticate: Basic",
  "Set-Cookie: a=b",
  "Location: http://127.0.0.1:1/elsewhere",
  "Retry-After: 0",
  "Retry-After: -5",
  "Retry-After: soon",
  "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT",
  "Via: 1.1 carryover",
  "X-Request-Id: another\tone",
  'ETag: "a"',
  "Content-Range: bytes 0-1/2",
  ...Object.values(NO_FIELDS),
  `X-Long: ${"l".repeat(3000)}`,
  "__proto__: x",
  "Content-Length: 1",
  ...Object.values(LENGTHS).map((of) => of(1)),
  ...Object.values(CODINGS),
];

/** How the body is framed: fields, bytes. */
function framed(body: string, random: Random): { fields: string; bytes: string; cut: boolean } {
  const length = `Content-Length: ${body.length}\r\n`;
  const chunked = "Transfer-Encoding: chunked\r\n";
  const inChunks = chunksOf(body, random);
  switch (random.int(16)) {
    case 0:
      return { fields: `Content-Length: ${body.length + 1 + random.int(99)}\r\n`, bytes: body, cut: true };
    case 1:
      return { fields: `Content-Length: ${random.int(body.length + 1)}\r\n`, bytes: `${body}${POISON}`, cut: false };
    case 2:
      return { fields: length + chunked, bytes: inChunks, cut: false };
    case 3:
      return { fields: chunked, bytes: inChunks.slice(0, random.int(inChunks.length)), cut: true };
    case 4:
      return { fields: chunked, bytes: `${inChunks.slice(0, -2)}X-Trailer: ${POISON}\r\n\r\n`, cut: false };
    case 5:
      return { fields: chunked, bytes: `zz\r\n${body}`, cut: false };
    case 6:
      return { fields: chunked, bytes: `${body.length.toString(16)};a="b"\r\n${body}\r\n0\r\n\r\n`, cut: false };
    case 7:
      return { fields: "Connection: close\r\n", bytes: body, cut: true };
    case 8:
      return { fields: length + length, bytes: body, cut: false };
    case 9:
      return { fields: length, bytes: `${body}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n${POISON}`, cut: false };
    case 10:
    case 11:
      return { fields: chunked, bytes: inChunks, cut: false };
    default:
      return { fields: length, bytes: body, cut: false };
  }
}

function chunksOf(body: string, random: Random): string {
  let text = "";
  for (let at = 0; at < body.length; ) {
    const size = Math.min(body.length - at, 1 + random.int(60));
    text += `${size.toString(16)}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  return `${text}0\r\n\r\n`;
}

const statusLine = (random: Random): string => {
  const luck = random.int(20);
  if (luck === 0) return random.pick(LINES);
  return luck < 14 ? "HTTP/1.1 200 OK" : `HTTP/1.1 ${random.pick(STATUSES)} Odd`;
};

const BEFORE: Some<string> = [
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
  "HTTP/1.1 102 Processing\r\n\r\n",
  "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello",
  "\r\n\r\n",
  "\0",
];

/** One hostile answer. `good`: what an honest platform would say. */
export function hostileAnswer(good: Json, random: Random): readonly Step[] {
  if (random.chance(0.04)) return [{ finally: random.pick<"reset" | "end" | "stall">(["reset", "end", "stall"]) }];
  let body = oddJson(good, random);
  let fields = random.chance(0.85) ? "Content-Type: application/json\r\n" : "";
  if (random.chance(0.05)) {
    body = gzipSync(Buffer.from(body, "latin1")).toString("latin1");
    fields += "Content-Encoding: gzip\r\n";
  }
  for (let left = random.chance(0.4) ? 1 + random.int(3) : 0; left > 0; left--) fields += `${random.pick(FIELDS)}\r\n`;
  if (random.chance(0.02)) fields += "X-Many: 1\r\n".repeat(150);
  const frame = framed(body, random);
  const before = random.chance(0.08) ? random.pick(BEFORE).repeat(1 + random.int(random.chance(0.2) ? 2000 : 3)) : "";
  const text = `${before}${statusLine(random)}\r\n${fields}${frame.fields}\r\n${frame.bytes}`;
  return delivered(text, frame.cut, random);
}

/** In one piece, in several, or not to its end. */
function delivered(text: string, cut: boolean, random: Random): readonly Step[] {
  const steps: Step[] = [];
  const end = random.chance(0.03) ? random.int(text.length + 1) : text.length;
  const pieces = random.chance(0.2) ? 1 + random.int(5) : 1;
  for (let at = 0; at < end; ) {
    const size = pieces === 1 ? end : 1 + random.int(Math.ceil(end / pieces) * 2);
    steps.push({ write: text.slice(at, Math.min(end, at + size)) });
    at += size;
    if (at < end) steps.push({ waitMs: random.int(3) });
  }
  if (cut || end < text.length) {
    steps.push({ finally: random.chance(0.1) ? "stall" : random.pick<"reset" | "end">(["reset", "end"]) });
  }
  return steps;
}
