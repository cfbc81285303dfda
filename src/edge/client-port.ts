/** The TCP port of one protocol: opening it, alone or shared with other processes, and emptying its queue before it closes. */
import { once } from "node:events";
import type { AddressInfo, ListenOptions, Server } from "node:net";
import { ConfigError } from "../config/faults.ts";

export interface ClientPort {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Other processes may listen there as well (SO_REUSEPORT). */
  readonly reusePort?: boolean | undefined;
}

/**
 * Connections that may wait until they are accepted; the system may allow fewer (Linux: 4096). A crowd that comes at once is no reason
 * to drop any: its client would try again after a second. (Node's own number is 511.)
 */
export const BACKLOG = 65_535;

/** Rejects if the port cannot be opened. Returns its URL. */
export async function openClientPort(server: Server, { host, port, reusePort = false }: ClientPort): Promise<string> {
  const options: ListenOptions & { readonly reusePort: boolean } = { host, port, reusePort, backlog: BACKLOG };
  server.listen(options);
  try {
    await once(server, "listening");
  } catch (error) {
    if (!reusePort || (error as NodeJS.ErrnoException).code !== "ENOTSUP") throw error;
    throw unshareable(`this system (${process.platform}) cannot share a port between processes`, "");
  }
  const { address, family, port: bound } = server.address() as AddressInfo;
  if (address === "0.0.0.0") return `http://127.0.0.1:${bound}`;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${bound}`;
}

/** Throws ConfigError if `version` of Node does not know the option: it would ignore it, and the second process would find the port taken. */
export function requireReusePort(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major >= 24 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)) return;
  throw unshareable(
    `Node ${version} cannot share a port between processes; Node 22.12, 23.1 and newer can`,
    "run carryover with Node 24, or ",
  );
}

function unshareable(what: string, remedy: string): ConfigError {
  const others = "leave it out and give each process a port of its own behind a load balancer (docs/scale.md)";
  return new ConfigError([{ where: "listen.reusePort", what, remedy: remedy + others }]);
}

/** Longest time for emptying a queue that clients keep filling. */
const MOST_MS = 1_000;
/** Longest time for waiting until a turn of the event loop is short. */
const BUSY_MS = 100;
const SHORT_TURN_MS = 0.3;

const turn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Resolves once no connection waits to be accepted, or after `withinMs`. Close the port right then: the system resets the connections
 * that still wait, although their clients have been told that they are connected. Node accepts one connection per turn of its event
 * loop and port, so a turn that brought none has found the queues empty. A client that connects during the rest of that turn is lost,
 * so a short one is waited for.
 */
export async function acceptWaiting(servers: readonly Server[], withinMs: number): Promise<void> {
  let accepted = false;
  const note = (): void => {
    accepted = true;
  };
  for (const server of servers) server.on("connection", note);
  // The first turn may have looked for connections before this function was called.
  await turn();
  const begun = performance.now();
  let now = begun;
  for (;;) {
    accepted = false;
    await turn();
    const before = now;
    now = performance.now();
    if (now - begun >= Math.min(withinMs, MOST_MS)) break;
    if (!accepted && (now - before <= SHORT_TURN_MS || now - begun >= BUSY_MS)) break;
  }
  for (const server of servers) server.off("connection", note);
}
