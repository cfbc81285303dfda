/** Clients of v1 and v2 over HTTP, and of v1 over gRPC, that read and write: they send at a steady rate whatever comes back, and record each request. */
import { Agent } from "node:http";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { grpcClient } from "../../../sandbox/test/grpc-client.ts";
import { exchange } from "../../end-to-end/comparison/http.ts";
import { MARK } from "./front.ts";

export type Kind = "v1" | "v1-write" | "v2" | "grpc";

export interface Sent {
  readonly mark: string;
  readonly kind: Kind;
  readonly client: string;
  /** The part of the test in which it was sent. */
  readonly phase: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  ms: number;
  /** `carryover-mode` of the response. */
  mode: string | undefined;
  /** Undefined while it is in flight, and after a response as it should be. */
  fault: string | undefined;
}

export interface Load {
  /** Every request that was sent, also those of `ask`. */
  readonly sent: readonly Sent[];
  /** Names the part of the test that begins. */
  begin(phase: string): void;
  /** One v1 request of `client` at `url`. Resolves to `carryover-mode`. */
  ask(url: string, client: string): Promise<string>;
  /** Resolves once all requests have ended. */
  pause(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
}

/** Clients and requests per second of each. 66 requests per second together. */
const CLIENTS: readonly { readonly kind: Kind; readonly clients: number; readonly perSecond: number }[] = [
  { kind: "v1", clients: 6, perSecond: 6 },
  { kind: "v1-write", clients: 2, perSecond: 3 },
  { kind: "v2", clients: 3, perSecond: 4 },
  { kind: "grpc", clients: 3, perSecond: 4 },
];
const V1 = "/iam/v1/roles?name=viewer&description=";

interface Asked {
  readonly method?: string;
  readonly target: string;
  readonly body?: Uint8Array;
  /** A text of the response. */
  readonly holds?: string;
}

/** Every update writes another description, which the response has to show. */
function writeOf(group: string, mark: string): Asked {
  const description = `written by ${mark}`;
  const body = Buffer.from(JSON.stringify({ name: "written", description }));
  return { method: "PUT", target: `/iam/v1/groups/${group}`, body, holds: description };
}

/** A request that takes longer has been lost. */
const LOST_MS = 30_000;

export function startLoad(url: string, sandbox: Sandbox): Load {
  const sent: Sent[] = [];
  const { someGroup, emptyGroup } = sandbox.wellKnown;
  const flying = new Set<Promise<unknown>>();
  let phase = "between";
  /** `send` resolves to the mode. */
  const record = async (kind: Kind, client: string, send: (mark: string) => Promise<string | undefined>) => {
    const mark = String(sent.length);
    const entry: Sent = { mark, kind, client, phase, at: Date.now(), ms: 0, mode: undefined, fault: undefined };
    sent.push(entry);
    const begun = performance.now();
    const work = withLimit(send(mark)).catch((error) => {
      entry.fault = error instanceof Error ? error.message : String(error);
      return undefined;
    });
    flying.add(work);
    entry.mode = await work;
    flying.delete(work);
    entry.ms = performance.now() - begun;
    return entry.mode;
  };
  const http = async (to: string, agent: Agent, client: string, mark: string, asked: Asked) => {
    const headers = {
      authorization: `Bearer ${sandbox.token(`admin#${client}`)}`,
      "user-agent": `${client}/1.0`,
      [MARK]: mark,
    };
    const { method = "GET", target, body, holds = '"viewer"' } = asked;
    const response = await exchange({ method, url: to, target, headers, body, agent });
    const text = Buffer.from(response.body).toString();
    if (response.status !== 200) throw new Error(`status ${response.status}: ${text.slice(0, 200)}`);
    if (!text.includes(holds)) throw new Error(`another response: ${text.slice(0, 200)}`);
    return response.headers.find(([name]) => name === "carryover-mode")?.[1];
  };
  const sender = (kind: Kind, client: string): { once: () => void; close: () => void } => {
    if (kind === "grpc") {
      const grpc = grpcClient(sandbox, url);
      const call = async (mark: string) => {
        const headers = { "user-agent": `${client}/1.0`, [MARK]: mark };
        const asked = { token: sandbox.token(`admin#${client}`), headers };
        const { code, message, json, headers: fields } = await grpc.call("iam.Roles/List", { name: "viewer" }, asked);
        if (code !== 0) throw new Error(`status ${code}: ${message}`);
        if (!JSON.stringify(json).includes('"viewer"')) throw new Error("another response");
        return String(fields["carryover-mode"]);
      };
      return { once: () => void record(kind, client, call), close: grpc.close };
    }
    const agent = new Agent({ keepAlive: true });
    const asked = (mark: string): Asked => {
      if (kind === "v1-write") return writeOf(client.endsWith("0") ? someGroup : emptyGroup, mark);
      return { target: (kind === "v1" ? V1 : "/iam/v2beta1/roles?name=viewer&pageToken=&x=") + mark };
    };
    return {
      once: () => void record(kind, client, (mark) => http(url, agent, client, mark, asked(mark))),
      close: () => agent.destroy(),
    };
  };
  const all = CLIENTS.flatMap(({ kind, clients, perSecond }) =>
    Array.from({ length: clients }, (_, i) => ({ perSecond, ...sender(kind, `steady-${kind}-${i}`) })),
  );
  let timers: readonly NodeJS.Timeout[] = [];
  const resume = (): void => {
    timers = all.map(({ once, perSecond }) => setInterval(once, 1_000 / perSecond));
  };
  const pause = async (): Promise<void> => {
    for (const timer of timers) clearInterval(timer);
    await Promise.all(flying);
  };
  resume();
  const direct = new Agent({ keepAlive: true });
  return {
    sent,
    begin: (name) => {
      phase = name;
    },
    ask: async (to, client) =>
      (await record("v1", client, (mark) => http(to, direct, client, mark, { target: V1 + mark }))) ?? "failed",
    pause,
    resume,
    stop: async () => {
      await pause();
      for (const { close } of all) close();
      direct.destroy();
    },
  };
}

async function withLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${LOST_MS / 1_000} s`)), LOST_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The time in milliseconds that `share` of the requests stayed below. */
export function quantile(sent: readonly Sent[], share: number): number {
  const times = sent.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
}
