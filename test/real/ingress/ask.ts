/** Sends a request through a proxy byte for byte, and reports whether the response arrived whole. */
import { type IncomingMessage, request as requestPlain } from "node:http";
import { connect } from "node:http2";
import { request as requestTls } from "node:https";
import { LOCALHOST } from "../../server/support/certificates.ts";

/** Whom a client trusts where the URL says https. */
const TRUST = { ca: LOCALHOST.cert };

export interface Outgoing {
  readonly method?: string;
  /** Exactly as it goes out. */
  readonly target: string;
  /** Flat: name, value, name, value. Host is added. */
  readonly headers?: readonly string[];
  readonly body?: string;
  /** Called with the first bytes of the answer's body. */
  readonly onFirstByte?: () => void;
}

export interface Incoming {
  /** 0: there was no answer. */ readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** False when the connection broke before the answer's end. */
  readonly whole: boolean;
}

/** Over HTTP/1.1, on a connection of its own. Never rejects. */
export function ask(url: string, outgoing: Outgoing): Promise<Incoming> {
  const { method = "GET", target, headers = [], body, onFirstByte } = outgoing;
  const { host, hostname, port } = new URL(url);
  const length = body === undefined ? [] : ["Content-Length", String(Buffer.byteLength(body))];
  const fields = headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === "host") ? [] : ["Host", host];
  return new Promise((done) => {
    const request = url.startsWith("https:") ? requestTls : requestPlain;
    const sent = request({
      ...{ hostname, port, method, path: target, agent: false, ...TRUST },
      headers: [...fields, ...headers, ...length],
    });
    sent.once("response", (incoming) => done(read(incoming, onFirstByte)));
    sent.once("error", () => done({ status: 0, headers: new Map(), text: "", whole: false }));
    sent.end(body);
  });
}

async function read(incoming: IncomingMessage, onFirstByte = () => {}): Promise<Incoming> {
  const pieces: Buffer[] = [];
  incoming.once("data", onFirstByte);
  incoming.on("data", (piece: Buffer) => pieces.push(piece));
  await new Promise((done) => incoming.once("close", done).once("error", done));
  return {
    status: incoming.statusCode ?? 0,
    headers: new Map(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
    text: Buffer.concat(pieces).toString("utf8"),
    whole: incoming.complete,
  };
}

/** Over HTTP/2, on a connection of its own. Never rejects. */
export function askH2(url: string, outgoing: Outgoing): Promise<Incoming> {
  const { method = "GET", target, headers = [], body, onFirstByte = () => {} } = outgoing;
  const session = connect(url, TRUST);
  const pieces: Buffer[] = [];
  let status = 0;
  let fields: Incoming["headers"] = new Map();
  let ended = false;
  return new Promise((done) => {
    const over = (whole: boolean): void => {
      session.destroy();
      done({ status, headers: fields, text: Buffer.concat(pieces).toString("utf8"), whole });
    };
    session.once("error", () => over(false));
    const stream = session.request({ ":method": method, ":path": target, ...fieldsOf(headers) });
    stream.once("response", (answer) => {
      status = answer[":status"] ?? 0;
      fields = new Map(Object.entries(answer).map(([name, value]) => [name, String(value)]));
    });
    stream.once("data", onFirstByte);
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.once("end", () => {
      ended = true;
    });
    stream.on("error", () => {});
    stream.once("close", () => over(ended && stream.rstCode === 0));
    stream.end(body);
  });
}

/** Node's form for HTTP/2: a name in lower case with a value, or several. */
function fieldsOf(headers: readonly string[]): Record<string, string | string[]> {
  const fields = new Map<string, string[]>();
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = (headers[i] ?? "").toLowerCase();
    // What HTTP/1.1 calls Host.
    const called = name === "host" ? ":authority" : name;
    fields.set(called, [...(fields.get(called) ?? []), headers[i + 1] ?? ""]);
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values]),
  );
}
