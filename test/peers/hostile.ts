/** Requests that HTTP parsers disagree about: the combinations that smuggle. (test/corpus has others.) */

export interface Hostile {
  readonly name: string;
  /** Latin-1: one character is one byte. */
  readonly bytes: string;
  /** Said in HTTP/2. */
  readonly h2?: true;
}

/** What a smuggled request would ask for. It never may reach the platform but as a request of its own. */
export const HIDDEN = "GET /hidden HTTP/1.1\r\nHost: hidden.example\r\nX-Front-Id: forged\r\n\r\n";

const CODINGS: readonly string[] = [
  "Transfer-Encoding: chunked",
  "transfer-encoding:chunked",
  "Transfer-Encoding: Chunked",
  "Transfer-Encoding : chunked",
  "Transfer-Encoding:\tchunked",
  "Transfer-Encoding: \x0bchunked",
  "Transfer-Encoding: chunked\x0c",
  "Transfer-Encoding:\r\n chunked",
  "X: y\nTransfer-Encoding: chunked",
  "X: y\rTransfer-Encoding: chunked",
  "Transfer-Encoding: xchunked",
  "Transfer-Encoding: identity",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding: identity, chunked",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding: chunked, chunked",
  'Transfer-Encoding: "chunked"',
  "Transfer-Encoding: chunked;q=1",
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
  "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
  "Transfer_Encoding: chunked",
  "Transfer-Encoding\0: chunked",
  " Transfer-Encoding: chunked",
  "Transfer-Encoding: ch\xfcnked",
  "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked",
];

const LENGTHS: readonly ((length: number) => string)[] = [
  (length) => `Content-Length: ${length}`,
  (length) => `Content-Length: 0${length}`,
  (length) => `Content-Length: +${length}`,
  (length) => `Content-Length: ${length}, ${length}`,
  (length) => `Content-Length: ${length}\r\nContent-Length: 0`,
  (length) => `Content-Length: 0\r\nContent-Length: ${length}`,
  (length) => `Content-Length : ${length}`,
  (length) => `Content_Length: ${length}`,
  (length) => `Connection: Content-Length\r\nContent-Length: ${length}`,
  (length) => `Content-Length: ${length} `,
  (length) => `Content-Length:\r\n ${length}`,
  (length) => `Content-Length: 0x${length.toString(16)}`,
  (length) => `Content-Length: ${length}\0`,
];

const ends = "0\r\n\r\n";
const head = (fields: string, line = "POST /x HTTP/1.1"): string => `${line}\r\nHost: a.example\r\n${fields}\r\n\r\n`;

function smuggling(): Hostile[] {
  const list: Hostile[] = [];
  for (const coding of CODINGS) {
    const body = `${ends}${HIDDEN}`;
    list.push({ name: `length before ${coding}`, bytes: head(`Content-Length: ${body.length}\r\n${coding}`) + body });
    list.push({ name: `length behind ${coding}`, bytes: head(`${coding}\r\nContent-Length: ${body.length}`) + body });
    // The other way round: the chunk is whole for who reads chunks, and holds a request for who reads the length.
    const chunk = `${HIDDEN.length.toString(16)}\r\n`;
    const chunked = `${chunk}${HIDDEN}\r\n${ends}`;
    list.push({
      name: `short length and ${coding}`,
      bytes: head(`Content-Length: ${chunk.length}\r\n${coding}`) + chunked,
    });
    list.push({ name: `only ${coding}`, bytes: head(coding) + chunked });
    list.push({ name: `HTTP/1.0 and ${coding}`, bytes: head(coding, "POST /x HTTP/1.0") + chunked });
  }
  for (const length of LENGTHS) {
    list.push({ name: length(5), bytes: head(length(HIDDEN.length)) + HIDDEN });
    list.push({ name: `GET with ${length(5)}`, bytes: head(length(HIDDEN.length), "GET /x HTTP/1.1") + HIDDEN });
  }
  return list;
}

function chunking(): Hostile[] {
  const sizes = [
    "5;a",
    "5 ;a=b",
    " 5",
    "5\t",
    "0x5",
    "+5",
    "05",
    "5\n",
    "5\rX",
    "FFFFFFFFFFFFFFFF5",
    "-5",
    "5,5",
    "5;\nX",
    "5;a\0b",
  ];
  const list = sizes.map((size) => ({
    name: `chunk size ${JSON.stringify(size)}`,
    bytes: `${head("Transfer-Encoding: chunked")}${size}\r\nhello\r\n${ends}${HIDDEN}`,
  }));
  const trailers = [
    "Host: b",
    "Content-Length: 5",
    "Transfer-Encoding: chunked",
    "X-Forwarded-For: 6.6.6.6",
    "Bad\r",
    "\0: 1",
    "X-Front-Id: t",
  ];
  for (const trailer of trailers) {
    list.push({
      name: `trailer ${trailer}`,
      bytes: `${head("Transfer-Encoding: chunked")}5\r\nhello\r\n0\r\n${trailer}\r\n\r\n${HIDDEN}`,
    });
  }
  list.push({
    name: "a chunk's end missing",
    bytes: `${head("Transfer-Encoding: chunked")}5\r\nhello0\r\n\r\n${HIDDEN}`,
  });
  list.push({
    name: "chunks whose line ends have no CR",
    bytes: `${head("Transfer-Encoding: chunked")}5\nhello\n0\n\n${HIDDEN}`,
  });
  return list;
}

const FIELDS: readonly string[] = [
  "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example",
  "x-forwarded-for: 6.6.6.6\r\nX-FORWARDED-FOR: 7.7.7.7",
  "X_Forwarded_For: 6.6.6.6\r\nX-Forwarded_Host: evil.example\r\nX.Forwarded.For: 6.6.6.6",
  "X-Forwarded-For : 6.6.6.6",
  "X-Forwarded-Port: 444\r\nX-Forwarded-Prefix: /evil\r\nX-Forwarded-Server: evil\r\nX-Forwarded-User: admin",
  "X-Real-IP: 6.6.6.6",
  "Forwarded: for=6.6.6.6;host=evil.example",
  "Connection: close, X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Proto",
  "Connection: X-Forwarded-For\r\nX-Forwarded-For: 6.6.6.6",
  "Connection: Host",
  "X-HTTP-Method-Override: DELETE\r\nX-Method-Override: DELETE\r\nX-HTTP-Method: DELETE",
  "X-Original-URL: /hidden\r\nX-Rewrite-URL: /hidden",
  "X-Envoy-Original-Path: /hidden\r\nX-Envoy-Original-Host: hidden.example",
  "TE: trailers\r\nTrailer: X-A\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==",
  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13",
  "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
  "Expect: 100-continue",
  "Expect: 200-ok",
  "Grpc-Metadata-Authorization: Bearer b\r\nGrpc-Timeout: 1S",
  "Authorization: Bearer a\r\nAuthorization: Bearer b",
  "Content-Type: application/grpc",
  "Host: b.example",
  ":authority: b.example\r\n:path: /hidden",
  "X: a\r\n\tb",
  "X: a\rb",
  "X: a\0b",
  "X: a\nHost: b",
  "Range: bytes=0-1\r\nIf-None-Match: *",
  "Max-Forwards: 0",
];

/** Paths that readers decode, fold or resolve differently, on v1, on v2 and beside both. */
export const TARGETS: readonly string[] = [
  ...[
    "/iam/v1/groups/a/../../../admin",
    "/iam/v1/groups/%2e%2e/%2e%2e/admin",
    "/iam/v1/groups/..%2fadmin",
    "/iam/v1/groups/.%2e/x",
  ],
  ...[
    "/iam/v1/groups/..\\admin",
    "/iam/v1/groups/%5c..%5cadmin",
    "/iam/v1/groups/..;/admin",
    "/iam/v1/./groups",
    "/iam/v1//groups",
  ],
  ...[
    "//iam/v1/groups",
    "/iam%2Fv1/groups",
    "/iam%2fv1%2fgroups",
    "/%69am/v1/groups",
    "/IAM/V1/groups",
    "/iam/v1;x=1/groups",
    "/iam/v1x/groups",
  ],
  ...[
    "/iam/v1/%252e%252e/admin",
    "/iam/v1/groups/%zz",
    "/iam/v1/groups/%",
    "/iam/v1/groups/%00",
    "/iam/v1/groups/%0d%0aX-Evil:%201",
  ],
  ...[
    "/iam/v1/groups%3Fadmin=1",
    "/iam/v1/groups%23x",
    "/iam/v1/groups#x",
    "/iam/v1/groups?x=1#y",
    "/iam/v1/groups/\xc3\xa4",
    "/iam/v1/groups/%c0%ae%c0%ae/x",
  ],
  ...[
    "/iam/v2beta1/groups/../../v1/groups",
    "/iam/v2beta1/../v1/groups",
    "/iam/v1/../v2beta1/groups",
    "/iam/v2beta1/groups//a",
    "/iam/v2beta1/groups/a%2Fb",
  ],
  ...[
    "/iam/v2beta1/groups?page_token=a+b%2Bc%2f&x=1&x=2&&=&%zz",
    "/x?/iam/v1/groups",
    "/x;/iam/v1/groups",
    "/metrics",
    "/readyz",
    "/.well-known/x",
    "*",
  ],
  ...[
    "http://evil.example/x",
    "http://evil.example",
    "https://evil.example/iam/v1/groups",
    "http://a.example@evil.example/x",
    "evil.example:80",
  ],
  ...[
    "//evil.example/x",
    "/\\evil.example/x",
    "@evil.example/x",
    "",
    "/iam/v1/groups /x",
    "/x\t/y",
    "/iam/v1/groups/a:check",
    "/sts/exchange?aud=a",
  ],
];

const METHODS = ["get", "TRACE", "TRACK", "CONNECT", "PURGE", "FOO", "PRI", "OPTIONS", "HEAD", "GE T", "GET\t", "G\0T"];
const VERSIONS = ["HTTP/1.0", "HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/1.1 ", "http/1.1", "HTTP/01.1", ""];

const BASICS: readonly Hostile[] = [
  { name: "a preface of HTTP/2", bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0" },
  { name: "TLS", bytes: "\x16\x03\x01\0\x05\x01\0\0\x01\x03" },
  { name: "no Host", bytes: "GET /x HTTP/1.1\r\n\r\n" },
  { name: "an empty Host", bytes: "GET /x HTTP/1.1\r\nHost:\r\n\r\n" },
  { name: "Host a/b@c", bytes: "GET /x HTTP/1.1\r\nHost: a/b@c\r\n\r\n" },
  { name: "Host a, b", bytes: "GET /x HTTP/1.1\r\nHost: a, b\r\n\r\n" },
  { name: "a line end before the request", bytes: "\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n" },
  { name: "line ends without CR", bytes: `GET /x HTTP/1.1\nHost: a\n\n${HIDDEN}` },
  {
    name: "a CR at the end of the head",
    bytes: `GET /x HTTP/1.1\r\nHost: a\r\n\rGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n`,
  },
  { name: "two requests at once", bytes: `GET /x?1 HTTP/1.1\r\nHost: a\r\n\r\nGET /x?2 HTTP/1.1\r\nHost: a\r\n\r\n` },
];

/** Everything above, each with a name of its own. */
export function hostile(): Hostile[] {
  const plain = "Connection: keep-alive";
  return [
    ...smuggling(),
    ...chunking(),
    ...BASICS,
    ...FIELDS.map((fields) => ({ name: fields, bytes: head(fields, "GET /x HTTP/1.1") })),
    ...FIELDS.map((fields) => ({ name: `v1 with ${fields}`, bytes: head(fields, "GET /iam/v1/groups HTTP/1.1") })),
    ...FIELDS.map((fields) => ({
      name: `v2 with ${fields}`,
      bytes: `${head(`${fields}\r\nContent-Length: 5`, "POST /iam/v2beta1/groups HTTP/1.1")}hello`,
    })),
    ...TARGETS.map((target) => ({ name: `GET ${target}`, bytes: head(plain, `GET ${target} HTTP/1.1`) })),
    ...METHODS.map((method) => ({ name: `${method} /x`, bytes: head(plain, `${method} /x HTTP/1.1`) })),
    ...VERSIONS.map((version) => ({ name: `GET /x ${version}`, bytes: head(plain, `GET /x ${version}`) })),
  ];
}
