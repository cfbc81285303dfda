/** A client that records the response byte by byte. */
import { connect, type Socket } from "node:net";

/** One answer as it arrived. */
export interface Answer {
  readonly status: number;
  readonly line: string;
  /** Fields in order, spelled as on the wire. */
  readonly fields: readonly (readonly [string, string])[];
  readonly body: string;
  /** The first value of a field (lower case). */
  field(name: string): string | undefined;
  /** The body as JSON. */
  json(): { code: number; message: string; details: { reason: string; metadata: Record<string, string> }[] };
}

/** A connection that records what comes. */
export interface Client {
  readonly socket: Socket;
  send(bytes: string | Buffer): void;
  /** Everything so far, latin1. */
  text(): string;
  until(condition: (text: string) => boolean): Promise<string>;
  /** Everything, once the other side has closed. */
  closed(): Promise<string>;
  leave(): void;
}

/** Connects to a port of this machine; rejects when nothing listens there. */
export async function dial(port: number): Promise<Client> {
  const socket = connect(port, "127.0.0.1");
  const waiting = new Set<() => void>();
  let text = "";
  let over = false;
  const changed = () => {
    for (const look of [...waiting]) look();
  };
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    changed();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    over = true;
    changed();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", () => resolve());
    socket.once("error", reject);
  });
  const when = (condition: () => boolean) =>
    new Promise<string>((resolve) => {
      const look = () => {
        if (!condition()) return;
        waiting.delete(look);
        resolve(text);
      };
      waiting.add(look);
      look();
    });
  return {
    socket,
    send: (bytes) => {
      if (typeof bytes === "string") socket.write(bytes, "latin1");
      else socket.write(bytes);
    },
    text: () => text,
    until: (condition) => when(() => over || condition(text)),
    closed: () => when(() => over),
    leave: () => socket.destroy(),
  };
}

/** A new connection on which `bytes` were sent. */
export async function sending(port: number, bytes: string | Buffer): Promise<Client> {
  const client = await dial(port);
  client.send(bytes);
  return client;
}

/** Sends `bytes` and takes everything until the other side closes. */
export async function talk(port: number, bytes: string | Buffer): Promise<string> {
  return (await sending(port, bytes)).closed();
}

/** A request that asks for the connection to be closed; `fields` are lines, each with its line end. */
export function request(line: string, fields = "", body = ""): string {
  return `${line} HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n${fields}\r\n${body}`;
}

/** `request`, sent, and its one answer. */
export async function ask(port: number, line: string, fields = "", body = ""): Promise<Answer> {
  return parse(await talk(port, request(line, fields, body)));
}

/** The first final answer in `text`; chunked bodies put together. */
export function parse(text: string): Answer {
  const start = text.startsWith("HTTP/1.1 100") ? text.indexOf("\r\n\r\n") + 4 : 0;
  const end = text.indexOf("\r\n\r\n", start);
  const [line = "", ...lines] = text.slice(start, end).split("\r\n");
  const fields = lines.map((field): [string, string] => {
    const colon = field.indexOf(":");
    return [field.slice(0, colon), field.slice(colon + 1).trim()];
  });
  const find = (name: string) => fields.find(([key]) => key.toLowerCase() === name)?.[1];
  const raw = text.slice(end + 4);
  const body = find("transfer-encoding") === "chunked" ? unchunked(raw) : raw;
  return { status: Number(line.split(" ")[1]), line, fields, body, field: find, json: () => JSON.parse(body) };
}

/** What a client makes of chunks, as far as they came. */
export function unchunked(body: string): string {
  let text = "";
  let at = 0;
  while (at < body.length) {
    const line = body.indexOf("\r\n", at);
    const length = Number.parseInt(body.slice(at, line), 16);
    if (line < 0 || !(length > 0)) break;
    text += body.slice(line + 2, line + 2 + length);
    at = line + 4 + length;
  }
  return text;
}
