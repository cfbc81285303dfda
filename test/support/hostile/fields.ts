/** Fields, framings and chunks that readers of HTTP differ about. A table has the name of each oddity and its text, as latin1. */
import type { Odd } from "./targets.ts";

/** Transfer codings that some readers take for chunked. All are refused. */
export const CODINGS: Odd = {
  "unknown transfer coding": "Transfer-Encoding: xchunked",
  "identity alone": "Transfer-Encoding: identity",
  "chunked not last": "Transfer-Encoding: chunked, identity",
  "chunked twice": "Transfer-Encoding: chunked, chunked",
  "chunked after a control byte": "Transfer-Encoding: \x0bchunked",
  "chunked before a control byte": "Transfer-Encoding: chunked\x0c",
  "letter beyond ASCII": "Transfer-Encoding: ch\xfcnked",
  "folded transfer coding": "Transfer-Encoding: chunked\r\n , identity",
  "coding on the next line": "Transfer-Encoding:\r\n chunked",
  "coding behind a bare line feed": "X: y\nTransfer-Encoding: chunked",
  "coding behind a bare carriage return": "X: y\rTransfer-Encoding: chunked",
  "space before the colon": "Transfer-Encoding : chunked",
  "NUL before the colon": "Transfer-Encoding\0: chunked",
  "space before the coding's name": " Transfer-Encoding: chunked",
  "coding after a tab": "Transfer-Encoding:\tchunked\t\r\nTransfer-Encoding: identity",
  "quoted coding": 'Transfer-Encoding: "chunked"',
  "coding with a parameter": "Transfer-Encoding: chunked;q=1",
  "gzip before chunked": "Transfer-Encoding: gzip, chunked",
  "empty transfer coding": "Transfer-Encoding:",
};
export const IDENTITY: Odd = {
  "identity before chunked": "Transfer-Encoding: identity, chunked",
  "two transfer codings in two fields": "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
  "two transfer codings, chunked first": "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
};
/** Spellings of chunked that are right. */
export const CHUNKED: Odd = {
  "lower-case coding": "transfer-encoding:chunked",
  "coding in capitals": "Transfer-Encoding: Chunked",
  "tab before the coding": "Transfer-Encoding:\tchunked",
  "Connection that names the coding": "Connection: close, Transfer-Encoding\r\nTransfer-Encoding: chunked",
};

/** Lengths that are refused, for a body of `bytes` bytes. */
export const LENGTHS: Readonly<Record<string, (bytes: number) => string>> = {
  "length twice, equal": (bytes) => `Content-Length: ${bytes}\r\nContent-Length: ${bytes}`,
  "length twice, different": (bytes) => `Content-Length: ${bytes}\r\nContent-Length: 0`,
  "length twice, none first": (bytes) => `Content-Length: 0\r\nContent-Length: ${bytes}`,
  "length in another spelling of the name, twice": (bytes) => `content-length: ${bytes}\r\nCONTENT-LENGTH: ${bytes}`,
  "length as a list": (bytes) => `Content-Length: ${bytes}, ${bytes}`,
  "length with a plus": (bytes) => `Content-Length: +${bytes}`,
  "negative length": () => "Content-Length: -1",
  "hexadecimal length": (bytes) => `Content-Length: 0x${bytes.toString(16)}`,
  "length beyond 64 bits": () => "Content-Length: 18446744073709551617",
  "space inside the length": (bytes) => `Content-Length: 1 ${bytes}`,
  "folded length": (bytes) => ` Content-Length: ${bytes}`,
  "length on the next line": (bytes) => `Content-Length:\r\n ${bytes}`,
  "space before the length's colon": (bytes) => `Content-Length : ${bytes}`,
  "NUL behind the length": (bytes) => `Content-Length: ${bytes}\0`,
  "empty length": () => "Content-Length:",
  "length with a fraction": (bytes) => `Content-Length: ${bytes}.0`,
  "length with an exponent": (bytes) => `Content-Length: ${bytes}e0`,
};

/** Sizes of a chunk of five bytes that are refused. */
export const CHUNK_SIZES: Odd = {
  "negative chunk": "-5",
  "chunk size with a plus": "+5",
  "chunk size as a list": "5,5",
  "chunk size that overflows": "FFFFFFFFFFFFFFFF5",
  "chunk size with a prefix": "0x5",
  "empty chunk size": "",
  "chunk size behind a space": " 5",
  "space after a chunk size": "5 ",
  "tab after a chunk size": "5\t",
  "space before a chunk extension": "5 ;a=b",
  "bare line feed in a chunk extension": "5;a\nX",
  "NUL in a chunk extension": "5;a\0b",
  "bare line feed behind a chunk size": "5\n",
  "bare carriage return behind a chunk size": "5\rX",
};
/** Bodies in chunks that do not end where they should. */
export const CHUNK_ENDS: Odd = {
  "no line end after a chunk": "5\r\nhello0\r\n\r\n",
  "bare line feeds between chunks": "5\nhello\n0\n\n",
};
/** Sizes of the same chunk that are right. */
export const GOOD_SIZES: Odd = {
  "chunk extension": '5;a=b;c="d"',
  "chunk extension without a value": "5;a",
  "chunk size with a leading zero": "05",
};
export const TRAILERS: readonly string[] = [
  "Host: b",
  "Authorization: Bearer evil",
  "Content-Length: 5",
  "Transfer-Encoding: chunked",
  "X-Forwarded-For: 6.6.6.6",
  "Bad\r",
  "\0: 1",
  "X-Front-Id: t",
];

/** Invalid field lines. */
export const NO_FIELDS: Odd = {
  "folded field": "X-A: 1\r\n  2",
  "field folded with a tab": "X-A: 1\r\n\t2",
  "NUL in a field": "X-A: a\0b",
  "delete byte in a field": "X-A: a\x7fb",
  "bare carriage return in a field": "X-A: a\rX-Evil: 1",
  "bare line feed between fields": "X-A: a\nX-Evil: 1",
  "odd end of the head": "\rX-Evil: 1",
  "field without a colon": "X-A",
  "field without a name": ": 1",
  "space in a field name": "X A: 1",
  "pseudo-field": ":authority: b.example",
};

/** Fields of Host that are refused. */
export const HOSTS: Odd = {
  "two Hosts": "Host: a\r\nHost: b",
  "two equal Hosts": "Host: a\r\nHost: a",
  "empty Host": "Host:",
  "Host with a path and user": "Host: a/b@c",
  "Host with a list": "Host: a, b",
  "Host with a space": "Host: a b",
  "Host with an invalid port": "Host: a:80b",
};

/** Credentials that are refused as two; and ones that are odd, but the platform's to judge. */
export const TWO_CREDENTIALS: Odd = {
  "two Authorizations": "Authorization: Bearer a\r\nAuthorization: Bearer b",
  "two equal Authorizations": "Authorization: Bearer a\r\nauthorization: Bearer a",
  "Authorization and an empty one": "Authorization: Bearer a\r\nAuthorization:",
  "a credential as metadata of the gateway": "Authorization: Bearer a\r\nGrpc-Metadata-Authorization: Bearer b",
};
export const CREDENTIALS: Odd = {
  "two tokens in one Authorization": "Authorization: Bearer a,Bearer b",
  "token of other bytes": "Authorization: Bearer \xff\xfe",
  "Authorization without a token": "Authorization: Bearer ",
  "empty Authorization": "Authorization:",
  "token with a space": "Authorization: Bearer a b",
  "token without a scheme": "Authorization: a",
  "token behind a tab": "Authorization: Bearer\ta",
  "token in quotes": 'Authorization: Bearer "a"',
  "padding inside a token": "Authorization: Bearer a=b",
};

/** Fields that forge, name other fields, ask for another protocol or method, or have names of JavaScript's own. */
export const FIELDS = [
  "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example",
  "x-forwarded-for: 6.6.6.6\r\nX-FORWARDED-FOR: 7.7.7.7",
  "X_Forwarded_For: 6.6.6.6\r\nX-Forwarded_Host: evil.example\r\nX.Forwarded.For: 6.6.6.6",
  "X-Forwarded-For : 6.6.6.6",
  "X-Forwarded-Port: 444\r\nX-Forwarded-Prefix: /evil\r\nX-Forwarded-Server: evil\r\nX-Forwarded-User: admin",
  "X-Real-IP: 6.6.6.6",
  "Forwarded: for=6.6.6.6;host=evil.example",
  "Via: 1.1 carryover",
  "X-Request-Id: a\tb",
  "traceparent: 00-0-0-00",
  "Connection: close, X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Proto",
  "Connection: keep-alive, authorization, x-request-id, host, via",
  "Connection: X-Forwarded-For\r\nX-Forwarded-For: 6.6.6.6",
  "Connection: Host",
  "X-HTTP-Method-Override: DELETE\r\nX-Method-Override: DELETE\r\nX-HTTP-Method: DELETE",
  "X-Original-URL: /hidden\r\nX-Rewrite-URL: /hidden",
  "X-Envoy-Original-Path: /hidden\r\nX-Envoy-Original-Host: hidden.example",
  "TE: trailers\r\nTrailer: X-A\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==",
  "Trailer: Authorization",
  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13",
  "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
  "Upgrade: websocket",
  "Expect: 100-continue",
  "Expect: 200-ok",
  "Grpc-Metadata-Authorization: Bearer b\r\nGrpc-Timeout: 1S",
  "Authorization: Bearer a\r\nAuthorization: Bearer b",
  "Authorization: Bearer a,Bearer b",
  "Content-Type: application/grpc",
  "Content-Type: application/json ; charset=utf-16",
  "Content-Encoding: gzip",
  "Accept-Encoding: gzip;q=, br;q=9",
  "Host: b.example",
  "Host: a/b@c",
  "X: a\r\n\tb",
  "X: a\rb",
  "X: a\0b",
  "X: a\nHost: b",
  "__proto__: x",
  "constructor: x",
  "Range: bytes=0-1\r\nIf-None-Match: *",
  "Cookie: a=b",
  "Max-Forwards: 0",
] as const;
