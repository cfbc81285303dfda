/** How `@fastify/http-proxy` reaches the carryover of its process: in place of undici, and with each request as its client sent it. */
import { Agent, type IncomingMessage, request as openRequest, type ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { lingerAfter } from "../server/response.ts";

/** Where carryover listens. */
export type TransportAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number };

/** The request and its response, as Node has them. Fastify's own fields were merged, and the path of the proxy was normalised. */
export interface Hop {
  readonly incoming: IncomingMessage | Http2ServerRequest;
  readonly outgoing: ServerResponse | Http2ServerResponse;
}

/** Fields of a request for carryover, with the hop that they belong to. */
export type HopHeaders = Record<string, string | readonly string[] | undefined> & { [HOP]?: Hop };

/** Under this key fields carry their hop through the proxy. */
export const HOP = Symbol("hop");

/** As undici hands a response to the proxy. */
interface TransportResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: IncomingMessage;
}

/** An idle connection ends before carryover would end it (`listen.keepAliveSeconds`). */
const IDLE_MS = 30_000;
const MOST_IDLE = 256;

/** They belong to one connection. Node itself handles `Expect`. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** Of several fields of these names Node keeps the first. */
const FIRST_COUNTS: ReadonlySet<string> = new Set([
  "age",
  "authorization",
  "content-length",
  "content-type",
  "etag",
  "expires",
  "from",
  "host",
  "if-modified-since",
  "if-unmodified-since",
  "last-modified",
  "location",
  "max-forwards",
  "proxy-authorization",
  "referer",
  "retry-after",
  "server",
  "user-agent",
]);

export type Transport = ReturnType<typeof createTransport>;

/** `address` is asked for with each request. */
export function createTransport(address: () => TransportAddress) {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: MOST_IDLE, timeout: IDLE_MS });
  return {
    /** As undici's `Dispatcher.request`. */
    request(
      { method, headers, body }: { readonly method: string; readonly headers: HopHeaders; readonly body?: unknown },
      callback: (error: Error | null, response?: TransportResponse) => void,
    ): void {
      const hop = headers[HOP];
      if (hop === undefined) throw new Error("the fields of a request have lost their hop");
      const { incoming, outgoing } = hop;
      const isChunked = hasBodyOfUnknownLength(incoming);
      const fields = fieldsFor(incoming.rawHeaders, headers);
      if (isChunked) fields.push("transfer-encoding", "chunked");
      const sent = openRequest({ ...address(), agent, method, path: incoming.url, headers: fields, setHost: false });
      let received: IncomingMessage | undefined;
      let isAnswered = false;
      const settle = (error: Error | null, response?: TransportResponse): void => {
        if (isAnswered || outgoing.destroyed) return;
        isAnswered = true;
        callback(error, response);
      };
      sent.once("error", (error) => settle(error));
      sent.once("response", (response) => {
        received = response;
        response.once("error", () => breakOff(outgoing));
        lingerIfUnfinished(incoming);
        settle(null, { statusCode: response.statusCode ?? 0, headers: headersOf(response.rawHeaders), body: response });
      });
      outgoing.once("close", () => {
        if (received?.complete !== true) sent.destroy();
      });
      const hasBody = isChunked || Number(incoming.headers["content-length"] ?? 0) > 0;
      if (hasBody) send(body instanceof Readable ? body : incoming, sent);
      else sent.end();
    },
  };
}

function hasBodyOfUnknownLength(incoming: Hop["incoming"]): boolean {
  if (incoming.headers["transfer-encoding"] !== undefined) return true;
  return "stream" in incoming && !incoming.stream.endAfterHeaders && incoming.headers["content-length"] === undefined;
}

/** `app.inject()` has no socket, and streams of HTTP/2 need no such thing. */
function lingerIfUnfinished(incoming: Hop["incoming"]): void {
  if (!incoming.complete && !("stream" in incoming) && incoming.socket instanceof Socket) lingerAfter(incoming);
}

/** Fastify would end a stream of HTTP/2 as if the response was whole. */
function breakOff(outgoing: Hop["outgoing"]): void {
  if ("stream" in outgoing) outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Reads and drops the rest of a body that carryover no longer takes: the client has its response. */
function send(payload: Readable, sent: ReturnType<typeof openRequest>): void {
  payload.pipe(sent);
  // A hook of the app may have put another stream in the place of the body.
  payload.once("error", (error) => sent.destroy(error));
  sent.once("close", () => payload.resume());
}

/** The fields as they came, in their order and spelling, but for those that hooks of the app or the proxy have changed. */
function fieldsFor(raw: readonly string[], wanted: HopHeaders): string[] {
  const received = new Map<string, string[]>();
  eachField(raw, (name, value) => {
    const values = received.get(name);
    if (values === undefined) received.set(name, [value]);
    else values.push(value);
  });
  const isUnchanged = (name: string): boolean => {
    const values = received.get(name);
    return values !== undefined && mergedByNode(name, values) === String(wanted[name]);
  };
  const fields: string[] = [];
  eachField(raw, (name, value, spelling) => {
    if (!OF_CONNECTION.has(name) && Object.hasOwn(wanted, name) && isUnchanged(name)) fields.push(spelling, value);
  });
  for (const [name, value] of Object.entries(wanted)) {
    if (value === undefined || OF_CONNECTION.has(name) || isUnchanged(name)) continue;
    for (const one of typeof value === "string" ? [value] : value) fields.push(name, one);
  }
  return fields;
}

/** `name` in lower case. */
function eachField(raw: readonly string[], each: (name: string, value: string, spelling: string) => void): void {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const spelling = raw[at] ?? "";
    // HTTP/2 has pseudo-fields.
    if (!spelling.startsWith(":")) each(spelling.toLowerCase(), raw[at + 1] ?? "", spelling);
  }
}

function mergedByNode(name: string, values: readonly string[]): string {
  if (FIRST_COUNTS.has(name)) return values[0] ?? "";
  return values.join(name === "cookie" ? "; " : name === "set-cookie" ? "," : ", ");
}

function headersOf(raw: readonly string[]): TransportResponse["headers"] {
  const headers: TransportResponse["headers"] = Object.create(null);
  eachField(raw, (name, value) => {
    if (OF_CONNECTION.has(name)) return;
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  });
  return headers;
}
