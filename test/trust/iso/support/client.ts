/** A client that makes requests for many tenants over few connections, and checks every byte of every response. */
import { connect, type Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import { lookThrough, type Tenant } from "./tenants.ts";

/** One request of a tenant. */
export interface Errand {
  readonly tenant: Tenant;
  readonly method: string;
  readonly target: string;
  readonly fields?: string;
  readonly body?: string;
  /** Statuses that are as they should be. */
  readonly statuses: readonly number[];
  /** True when a good answer holds the tenant's marker in its body. */
  readonly marked: boolean;
}

/** What all answers of a test came to. */
export interface Tally {
  answers: number;
  bytes: number;
  /** Markers of who asked. */
  own: number;
  /** What is wrong, in words; none should be here. */
  readonly wrong: string[];
  readonly byStatus: Map<number, number>;
  /** Answers by the first words of the request: that there were all kinds. */
  readonly byKind: Map<string, number>;
}

export function emptyTally(): Tally {
  return { answers: 0, bytes: 0, own: 0, wrong: [], byStatus: new Map(), byKind: new Map() };
}

/** `errand` as bytes; `id` is its request id, which the answer has to bring back. */
export function bytesOf({ tenant, method, target, fields = "", body }: Errand, id: string): string {
  const length = body === undefined ? "" : `Content-Length: ${body.length}\r\n`;
  const own = `Authorization: Bearer ${tenant.token}\r\nX-Request-Id: ${id}\r\n`;
  return `${method} ${target} HTTP/1.1\r\nHost: api.example\r\n${own}${fields}${length}\r\n${body ?? ""}`;
}

/** One answer, chunks put together. */
export interface Taken {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
  readonly size: number;
}

/** The first whole answer in `bytes`. */
export function takeAnswer(bytes: Buffer): Taken | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = bytes.toString("latin1", 0, end + 2).toLowerCase();
  const status = Number(head.slice(9, 12));
  const from = end + 4;
  const length = /\r\ncontent-length: (\d+)\r\n/.exec(head)?.[1];
  if (length !== undefined) {
    const to = from + Number(length);
    return bytes.length < to ? undefined : { status, head, body: bytes.subarray(from, to), size: to };
  }
  if (!head.includes("\r\ntransfer-encoding: chunked\r\n")) return { status, head, body: Buffer.alloc(0), size: from };
  const pieces: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    at = lineEnd + 2 + size + 2;
    if (bytes.length < at) return undefined;
    if (size === 0) return { status, head, body: Buffer.concat(pieces), size: at };
    pieces.push(bytes.subarray(lineEnd + 2, at - 2));
  }
}

/** Looks through one answer, and notes it. */
function judge({ status, head, body }: Taken, errand: Errand, id: string, tally: Tally): void {
  const { tenant, statuses, marked } = errand;
  const text = (/\r\ncontent-encoding: gzip\r\n/.test(head) ? gunzipSync(body) : body).toString("latin1");
  const [inHead, inBody] = [lookThrough(head, tenant.marker), lookThrough(text, tenant.marker)];
  const what = `${errand.method} ${errand.target} of ${tenant.marker}`;
  const note = (fault: string) => void tally.wrong.push(`${what}: ${fault}`);
  for (const foreign of [...inHead.foreign, ...inBody.foreign]) note(`it holds ${foreign}`);
  if (!head.includes(`\r\nx-request-id: ${id}\r\n`)) note(`another request id than ${id}: ${head}`);
  if (!statuses.includes(status)) note(`status ${status}: ${text.slice(0, 300)}`);
  if (status === 200 && marked && inBody.own === 0) note(`it holds nothing of its own: ${text.slice(0, 300)}`);
  tally.answers++;
  tally.bytes += head.length + text.length;
  tally.own += inHead.own + inBody.own;
  tally.byStatus.set(status, (tally.byStatus.get(status) ?? 0) + 1);
  const kind = `${errand.method} ${errand.target.split("/")[2]} ${errand.fields ?? ""}`;
  tally.byKind.set(kind, (tally.byKind.get(kind) ?? 0) + 1);
}

/** A connection that is dialled again when the other side has closed it. */
export interface Lane {
  /** Sends all of `errands` at once, and resolves when each has its answer; false when the connection ended before. */
  run(errands: readonly Errand[]): Promise<boolean>;
  leave(): void;
}

export function lane(port: number, tally: Tally, newId: (tenant: Tenant) => string): Lane {
  const state: { socket: Socket | undefined } = { socket: undefined };
  return {
    run: (errands) =>
      new Promise((resolve) => {
        const socket = state.socket ?? dial(port);
        state.socket = socket;
        const ids = errands.map(({ tenant }) => newId(tenant));
        let rest: Buffer = Buffer.alloc(0);
        let next = 0;
        const finish = (whole: boolean) => {
          socket.off("data", onData).off("close", onClose);
          if (!whole) state.socket = undefined;
          resolve(whole);
        };
        const onClose = () => finish(false);
        const onData = (chunk: Buffer) => {
          rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
          for (let taken = takeAnswer(rest); taken !== undefined; taken = takeAnswer(rest)) {
            rest = rest.subarray(taken.size);
            const [errand, id] = [errands[next], ids[next]];
            if (errand === undefined || id === undefined) {
              tally.wrong.push("an answer that nobody asked for");
              return finish(false);
            }
            judge(taken, errand, id, tally);
            next++;
          }
          if (next === errands.length && rest.length === 0) finish(true);
        };
        socket.on("data", onData).on("close", onClose);
        socket.write(errands.map((errand, at) => bytesOf(errand, ids[at] ?? "")).join(""), "latin1");
      }),
    leave: () => state.socket?.destroy(),
  };
}

/** A connection whose errors only show as its end. */
export function dial(port: number): Socket {
  return connect({ port, host: "127.0.0.1", noDelay: true }).on("error", () => {});
}
