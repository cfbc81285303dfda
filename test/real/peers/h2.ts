/**
 * Writes raw HTTP/2 requests that no library allows, and checks for responses. (RFC 9113, header fields without
 * compression.)
 */
import type { Hostile } from "./hostile.ts";
import { HIDDEN } from "./hostile.ts";

type Fields = readonly (readonly [string, string])[];

const Type = { DATA: 0, HEADERS: 1, RST_STREAM: 3, SETTINGS: 4, GOAWAY: 7 } as const;
const END_STREAM = 1;
const END_HEADERS = 4;
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** A connection's bytes, latin1: one request with these fields, in this order, and perhaps a body. */
export function h2Bytes(fields: Fields, body?: string): string {
  const block = fields.map(([name, value]) => `\0${text(name)}${text(value)}`).join("");
  const end = body === undefined ? END_STREAM : 0;
  const head = frame(Type.SETTINGS, 0, 0, "") + frame(Type.HEADERS, END_HEADERS + end, 1, block);
  return PREFACE + head + (body === undefined ? "" : frame(Type.DATA, END_STREAM, 1, body));
}

/** True when `bytes`, which a server wrote, hold the end of an answer, or the refusal of one. */
export function isAnsweredH2(bytes: string): boolean {
  for (let at = 0; at + 9 <= bytes.length; ) {
    const byte = (place: number): number => bytes.charCodeAt(at + place);
    const type = byte(3);
    const ends = (type === Type.DATA || type === Type.HEADERS) && (byte(4) & END_STREAM) !== 0;
    if (ends || type === Type.RST_STREAM || type === Type.GOAWAY) return true;
    at += 9 + byte(0) * 65_536 + byte(1) * 256 + byte(2);
  }
  return false;
}

function frame(type: number, flags: number, stream: number, payload: string): string {
  const { length } = payload;
  return String.fromCharCode(length >> 16, (length >> 8) & 255, length & 255, type, flags, 0, 0, 0, stream) + payload;
}

/** Its length in the form of RFC 7541 section 5.1 with seven bits, and itself. */
function text(value: string): string {
  const { length } = value;
  if (length < 127) return String.fromCharCode(length) + value;
  let rest = length - 127;
  let digits = "\x7f";
  for (; rest >= 128; rest >>= 7) digits += String.fromCharCode((rest & 127) | 128);
  return digits + String.fromCharCode(rest) + value;
}

const pseudo = (change: Readonly<Record<string, string>> = {}): [string, string][] =>
  Object.entries({ ":method": "POST", ":scheme": "http", ":authority": "a.example", ":path": "/x", ...change });

const SPLIT = ` HTTP/1.1\r\nHost: a\r\n\r\n${HIDDEN}`;

/** Requests that become others when they are written as HTTP/1.1. */
export function hostileH2(): Hostile[] {
  const list: Hostile[] = [];
  const add = (name: string, fields: Fields, body?: string): void => {
    list.push({ name: `HTTP/2: ${name}`, bytes: h2Bytes(fields, body), h2: true });
  };
  for (const length of ["0", "5", String(HIDDEN.length), "9999", "+5", "5, 5", "-1", "0x5", "5\r\nX: y", ""]) {
    add(`content-length ${JSON.stringify(length)}`, [...pseudo(), ["content-length", length]], HIDDEN);
    add(`content-length ${JSON.stringify(length)} and no body`, [...pseudo(), ["content-length", length]]);
  }
  const body = `0\r\n\r\n${HIDDEN}`;
  for (const coding of ["chunked", "Chunked", "identity", "gzip, chunked", " chunked", "chunked\r\nX: y", "xchunked"]) {
    add(`transfer-encoding ${JSON.stringify(coding)}`, [...pseudo(), ["transfer-encoding", coding]], body);
  }
  for (const name of [
    "Transfer-Encoding",
    "transfer-encoding ",
    "transfer_encoding",
    "x\r\ntransfer-encoding",
    "x: y\r\nte",
    "transfer-encoding: chunked\r\nx",
    "",
    "a b",
    "x\0",
    ":x",
  ]) {
    add(`a field ${JSON.stringify(name)}`, [...pseudo(), [name, "chunked"]], body);
  }
  for (const value of [
    "a\r\nTransfer-Encoding: chunked",
    "a\nTransfer-Encoding: chunked",
    "a\rb",
    "a\0b",
    `a\r\n\r\n${HIDDEN}`,
    " a",
    "a\r\n b",
  ]) {
    add(`a value ${JSON.stringify(value)}`, [...pseudo(), ["x-a", value]], body);
  }
  for (const path of [
    `/x${SPLIT}`,
    "/x y",
    "/x\ty",
    "x",
    "",
    "*",
    "http://evil.example/x",
    "//evil.example/x",
    "/x#y",
    "/x\r\nX: y",
    "/x\0",
    "/iam/v1/../x",
    "/\xff",
  ]) {
    add(`:path ${JSON.stringify(path)}`, pseudo({ ":path": path }));
  }
  for (const method of [`GET /hidden${SPLIT}GET`, "GET /hidden", "get", "G\0T", "", "CONNECT", "GET\r\nX:", "TRACE"]) {
    add(`:method ${JSON.stringify(method)}`, pseudo({ ":method": method }));
  }
  for (const authority of ["", "a\r\nX: y", "a/b", "user@a", "a, b", "a b", "a:99999", "a\0"]) {
    add(`:authority ${JSON.stringify(authority)}`, pseudo({ ":authority": authority }));
  }
  for (const scheme of ["https", "", "http://evil.example/", "ftp", "http\r\nX: y"]) {
    add(`:scheme ${JSON.stringify(scheme)}`, pseudo({ ":scheme": scheme }));
  }
  const more: readonly (readonly [string, Fields])[] = [
    ["host beside :authority", [...pseudo(), ["host", "evil.example"]]],
    [
      "host in the place of :authority",
      [...pseudo().filter(([name]) => name !== ":authority"), ["host", "evil.example"]],
    ],
    ["two hosts", [...pseudo(), ["host", "a.example"], ["host", "evil.example"]]],
    ["two :paths", [...pseudo(), [":path", "/hidden"]]],
    ["two :methods", [...pseudo(), [":method", "DELETE"]]],
    ["a pseudo-field behind others", [["x-a", "1"], ...pseudo()]],
    ["an unknown pseudo-field", [...pseudo(), [":hidden", "1"]]],
    ["an extended CONNECT", [...pseudo({ ":method": "CONNECT" }), [":protocol", "websocket"]]],
    ["connection", [...pseudo(), ["connection", "x-forwarded-for, host"]]],
    ["upgrade", [...pseudo(), ["upgrade", "websocket"], ["connection", "upgrade"]]],
    ["te", [...pseudo(), ["te", "trailers, chunked"]]],
    ["fields of the connection", [...pseudo(), ["keep-alive", "1"], ["proxy-connection", "keep-alive"]]],
    [
      "forged forwarding",
      [
        ...pseudo(),
        ["x-forwarded-for", "6.6.6.6"],
        ["x-forwarded-proto", "https"],
        ["x-forwarded-port", "1"],
        ["forwarded", "for=6.6.6.6"],
      ],
    ],
    ["underscores", [...pseudo(), ["x_forwarded_for", "6.6.6.6"], ["content_length", "5"]]],
    ["expect", [...pseudo(), ["expect", "100-continue"]]],
    ["two authorizations", [...pseudo(), ["authorization", "Bearer a"], ["authorization", "Bearer b"]]],
    ["a method override", [...pseudo(), ["x-http-method-override", "DELETE"]]],
    ["gRPC", [...pseudo(), ["content-type", "application/grpc"]]],
  ];
  for (const [name, fields] of more) {
    add(name, fields);
    add(`${name}, with a body`, fields, HIDDEN);
  }
  return list;
}
