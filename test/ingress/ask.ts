/** How is a request sent through a proxy byte for byte, and did its answer arrive whole? */
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:http2";

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
  /** 0: there was no answer. */
  readonly status: number;
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
    const sent = request({
      ...{ hostname, port, method, path: target, agent: false },
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

/** The status over HTTP/2 without TLS; 0: there was no answer. Never rejects. */
export function askH2(url: string, outgoing: Omit<Outgoing, "onFirstByte">): Promise<number> {
  const { method = "GET", target, headers = [], body } = outgoing;
  const fields: Record<string, string | string[]> = {};
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = (headers[i] ?? "").toLowerCase();
    const before = fields[name];
    const value = headers[i + 1] ?? "";
    fields[name] = before === undefined ? value : [...(typeof before === "string" ? [before] : before), value];
  }
  return new Promise((done) => {
    const session = connect(url);
    const over = (status: number): void => {
      done(status);
      session.destroy();
    };
    session.once("error", () => over(0));
    const stream = session.request({ ":method": method, ":path": target, ...fields });
    stream.once("response", (answer) => over(answer[":status"] ?? 0));
    stream.once("error", () => over(0));
    stream.once("close", () => over(0));
    stream.end(body);
  });
}
