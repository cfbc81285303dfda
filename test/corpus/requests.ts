/** Requests that are hostile or odd, byte for byte, and the result of each. Every test that reads requests draws from them. */
import {
  CHUNK_ENDS,
  CHUNK_SIZES,
  CHUNKED,
  CODINGS,
  CREDENTIALS,
  GOOD_SIZES,
  HOSTS,
  IDENTITY,
  LENGTHS,
  NO_FIELDS,
  TWO_CREDENTIALS,
} from "../support/hostile/fields.ts";
import {
  AMBIGUOUS,
  DOTS,
  NO_METHODS,
  NO_PATHS,
  ODD_BYTES,
  type Odd,
  OTHER_METHODS,
  UNKNOWN,
  VERSIONS,
} from "../support/hostile/targets.ts";

/** The bytes of one connection, and their result. */
export interface Entry {
  readonly name: string;
  /** The test that it belongs to: `T-SMG-01`. */
  readonly id: string;
  /** Latin-1: one character is one byte. */
  readonly bytes: string;
  /** Any of these; empty: the connection is closed without an answer. */
  readonly status: readonly number[];
  /** Whether it reaches the platform: those that are served do. */
  readonly passes: boolean;
}

/** Requests of one kind: what is odd in each of them, how it becomes a request, and its status. */
type Kind = readonly [id: string, odd: Odd, request: (odd: string) => string, status: number | readonly number[]];

const LAST = "0\r\n\r\n";
const BOTH = "Content-Length: 6\r\nTransfer-Encoding: chunked";
const CLOSE = "Connection: close";
const request = (line: string, fields = "", body = ""): string =>
  `${line}\r\nHost: a\r\n${fields === "" ? "" : `${fields}\r\n`}\r\n${body}`;
const post = (fields: string, body: string): string => request("POST /x HTTP/1.1", fields, body);
const toV2 = (fields: string, body = ""): string =>
  request(`${body === "" ? "GET" : "POST"} /iam/v2beta1/groups HTTP/1.1`, `${CLOSE}\r\n${fields}`, body);
const inChunks = (chunks: string): string => toV2("Transfer-Encoding: chunked", chunks);
const get = (target: string): string => request(`GET ${target} HTTP/1.1`, CLOSE);
const asIs = (bytes: string): string => bytes;
const lengths: Odd = Object.fromEntries(Object.entries(LENGTHS).map(([name, of]) => [name, of(5)]));

const KINDS: readonly Kind[] = [
  ["T-SMG-01", { "length and chunks": BOTH }, (fields) => post(fields, `${LAST}G`), 400],
  ["T-SMG-02", { "chunks and length": BOTH.split("\r\n").reverse().join("\r\n") }, (odd) => post(odd, `${LAST}G`), 400],
  ["T-SMG-03", CODINGS, (coding) => post(coding, LAST), 400],
  ["T-SMG-03", CHUNKED, (coding) => toV2(coding, LAST), 200],
  [
    "T-SMG-03",
    {
      "empty coding with a length": post("Transfer-Encoding:\r\nContent-Length: 5", "hello"),
      "chunks in HTTP/1.0": request("POST /x HTTP/1.0", "Transfer-Encoding: chunked", LAST),
      "coding with a length in HTTP/1.0": request("POST /x HTTP/1.0", BOTH, LAST),
    },
    asIs,
    400,
  ],
  ["T-SMG-04", lengths, (length) => post(length, "hello"), 400],
  ["T-SMG-05", CHUNK_SIZES, (size) => inChunks(`${size}\r\nhello\r\n${LAST}`), 400],
  ["T-SMG-05", CHUNK_ENDS, inChunks, 400],
  ["T-SMG-06", NO_FIELDS, (field) => request("GET /x HTTP/1.1", field), 400],
  [
    "T-SMG-06",
    {
      "bare line feeds": "GET /x HTTP/1.1\nHost: a\n\n",
      "no Host": "GET /x HTTP/1.1\r\n\r\n",
      "space before the first field": "GET /x HTTP/1.1\r\n X-A: 1\r\nHost: a\r\n\r\n",
    },
    asIs,
    400,
  ],
  ["T-SMG-07", IDENTITY, (coding) => post(coding, LAST), 400],
  ["T-SMG-08", HOSTS, (host) => `GET /x HTTP/1.1\r\n${host}\r\n\r\n`, 400],
  ["T-SMG-09", VERSIONS, (version) => request(`GET /x ${version}`), [400, 505]],
  ["T-SMG-09", { "two versions": "HTTP/1.1 HTTP/1.1" }, (version) => request(`GET /x ${version}`), 400],
  ["T-SMG-09", { "HTTP/0.9": "GET /x\r\n\r\n" }, asIs, 400],
  ["T-SMG-09", { ICE: "SOURCE /x ICE/1.0" }, (line) => request(line), [400, 501, 505]],
  [
    "T-SMG-09",
    {
      "RTSP/1.0, which Node's parser reads as HTTP/1.0": " RTSP/1.0",
      "two spaces before the version (RFC 9112 section 3 allows it)": "  HTTP/1.1",
    },
    (version) => request(`GET /iam/v2beta1/groups${version}`, CLOSE),
    200,
  ],
  ["T-SMG-10", NO_PATHS, get, 400],
  ["T-SMG-10", { CONNECT: "CONNECT evil.example:443 HTTP/1.1" }, (line) => request(line), []],
  ["T-SMG-11", { "OPTIONS *": "OPTIONS", "* for another method": "GET" }, (name) => request(`${name} * HTTP/1.1`), 400],
  ["T-SMG-12", NO_METHODS, (method) => request(`${method} /x HTTP/1.1`), 400],
  ["T-SMG-12", OTHER_METHODS, (method) => request(`${method} /x HTTP/1.1`, CLOSE), 501],
  ["T-SMG-16", TWO_CREDENTIALS, toV2, 401],
  ["T-SMG-16", { "token with a control byte": "Authorization: Bearer a\x7fb" }, toV2, 400],
  ["T-SMG-16", CREDENTIALS, toV2, 200],
  ["T-SMG-18", { "unknown expectation": "Expect: 200-ok", "empty expectation": "Expect:" }, toV2, 417],
  [
    "T-SMG-23",
    { "length in a trailer": "Content-Length: 100" },
    (t) => inChunks(`5\r\nhello\r\n0\r\n${t}\r\n\r\n`),
    400,
  ],
  ["T-SMG-24", GOOD_SIZES, (size) => inChunks(`${size}\r\nhello\r\n${LAST}`), 200],
  ["T-SMG-27", { ...DOTS, ...ODD_BYTES, ...AMBIGUOUS }, get, 400],
  ["T-SMG-27", UNKNOWN, get, 404],
  [
    "T-SMG-39",
    {
      "TLS hello": "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
      "PROXY protocol": `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${request("GET /x HTTP/1.1")}`,
    },
    asIs,
    400,
  ],
  [
    "T-SMG-40",
    { websocket: "websocket", "two upgrades": "h2c, websocket" },
    (to) => request("GET /x HTTP/1.1", `Connection: Upgrade\r\nUpgrade: ${to}`, "\x81\x05hello"),
    400,
  ],
];

export const requests: readonly Entry[] = KINDS.flatMap(([id, odd, as, status]) =>
  Object.entries(odd).map(([name, text]) => {
    const any = [status].flat();
    return { id, name, bytes: as(text), status: any, passes: any.includes(200) };
  }),
);
