/** A fast platform, v1 and v2, that marks every record with the tenant whose token requested it. */

import { createServer, type Socket } from "node:net";
import { listening } from "../../../end-to-end/app/rig.ts";
import { markerOf } from "./tenants.ts";

export interface Behaviour {
  readonly random: () => number;
  /** Milliseconds before an answer; 0: at once. */
  readonly delay: (random: () => number) => number;
  /** True when a second, unsolicited response follows the first. */
  readonly twice?: (random: () => number) => boolean;
}

export interface MarkerPlatform {
  readonly url: string;
  /** The most connections at a time. */
  mostConnections(): number;
}

/** Records of a short list, and of one of several pages. */
const FEW = 3;
const MANY = 420;
const PAGE = 200;

/** Listens until the end of the test. */
export async function markerPlatform(behaviour: Behaviour): Promise<MarkerPlatform> {
  const sockets = new Set<Socket>();
  let most = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    socket.on("close", () => sockets.delete(socket));
    let rest: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (let taken = take(rest); taken !== undefined; taken = take(rest)) {
        rest = taken.rest;
        serve(socket, taken, behaviour);
      }
    });
  });
  return {
    url: `http://127.0.0.1:${await listening(server)}`,
    mostConnections: () => most,
  };
}

interface Request {
  readonly method: string;
  readonly target: string;
  readonly head: string;
  readonly body: Buffer;
}

/** The first whole request in `bytes`. */
function take(bytes: Buffer): (Request & { readonly rest: Buffer }) | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const line = head.slice(0, head.indexOf("\r\n"));
  const [method = "", target = ""] = line.split(" ", 2);
  let from = end + 4;
  let length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
    // One chunk is all that the clients of these tests send.
    const sizeEnd = bytes.indexOf("\r\n", from);
    if (sizeEnd < 0) return undefined;
    length = Number.parseInt(bytes.toString("latin1", from, sizeEnd), 16);
    if (bytes.length < sizeEnd + 2 + length + 7) return undefined;
    const body = bytes.subarray(sizeEnd + 2, sizeEnd + 2 + length);
    from = sizeEnd + 2 + length + 7;
    return { method, target, head, body, rest: bytes.subarray(from) };
  }
  if (bytes.length < from + length) return undefined;
  return { method, target, head, body: bytes.subarray(from, from + length), rest: bytes.subarray(from + length) };
}

function serve(socket: Socket, request: Request, { random, delay, twice }: Behaviour): void {
  const answer = answerTo(request);
  const send = () => {
    if (socket.destroyed) return;
    socket.write(answer, "latin1");
    if (twice?.(random) === true) socket.write(answer, "latin1");
  };
  const ms = delay(random);
  if (ms === 0) send();
  else setTimeout(send, ms);
}

function answerTo({ method, target, head, body }: Request): string {
  const marker = markerOf(head);
  const [path = "", query = ""] = target.split("?", 2);
  const [, , version = "", , ...segments] = path.split("/");
  const uid = segments.join("/");
  if (uid.endsWith("missing")) return wire(404, `{"code":5,"message":"${marker} has no ${uid}","details":[]}`, marker);
  if (method === "DELETE") return wire(200, "{}", marker);
  if (method === "PATCH" || method === "PUT" || method === "POST") {
    const sent = JSON.parse(body.toString()) as { name?: string; description?: string };
    const made = method === "POST" ? `${uid}/n1` : uid;
    return wire(200, record(version, made, sent.name ?? "", sent.description ?? ""), marker);
  }
  if (uid !== "")
    return wire(200, record(version, uid, `${marker} name`, padding(query, marker)), marker, query !== "");
  return wire(200, version === "v1" ? nativeList(marker) : page(marker, query), marker);
}

function record(version: string, uid: string, name: string, description: string): string {
  const id = version === "v1" ? "id" : "uid";
  return JSON.stringify({ [id]: uid, name, description });
}

/** As many copies of the marker as `pad` says. */
function padding(query: string, marker: string): string {
  return `${marker} `.repeat(Number(/(?:^|&)pad=(\d+)/.exec(query)?.[1] ?? 1));
}

function nativeList(marker: string): string {
  return `{"items":[${rows("v1", marker, 0, FEW)}]}`;
}

function page(marker: string, query: string): string {
  const total = query.includes("name=many") ? MANY : FEW;
  const token = /page_token=mk-[0-9a-f]{4}-(\d+)/.exec(query)?.[1];
  const skip = /skip=(\d+)/.exec(query)?.[1];
  const from = Number(token ?? 0) + Number(skip ?? 0);
  const to = Math.min(total, from + PAGE);
  const next = to < total ? `${marker}-${to}` : "";
  const skipped = skip === undefined ? "" : `,"skipped":${Math.min(total, Number(skip))}`;
  return `{"groups":[${rows("v2", marker, from, to)}],"nextPageToken":"${next}","totalCount":"${total}"${skipped}}`;
}

function rows(version: string, marker: string, from: number, to: number): string {
  const all: string[] = [];
  for (let at = from; at < to; at++) {
    all.push(record(version, `${marker}/g${String(at).padStart(4, "0")}`, `${marker} name ${at}`, marker));
  }
  return all.join(",");
}

/** An answer; in chunks of uneven size when it is asked for. */
function wire(status: number, body: string, marker: string, chunked = false): string {
  const head = `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\nX-Whose: ${marker}\r\n`;
  if (!chunked) return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  let text = `${head}Transfer-Encoding: chunked\r\n\r\n`;
  for (let at = 0, size = 7; at < body.length; at += size, size = (size * 3) % 4001) {
    const piece = body.slice(at, at + size);
    text += `${piece.length.toString(16)}\r\n${piece}\r\n`;
  }
  return `${text}0\r\n\r\n`;
}
