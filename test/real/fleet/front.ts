/** A real HAProxy in front of several processes: HTTP and gRPC on one port. Its log tells which process got which request. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../scripts/free-ports.mjs";
import { later } from "../../support/take-down.ts";
import { installed, PROGRAMS } from "../ingress/programs.ts";
import { running } from "../ingress/proxy.ts";

/** The field that identifies a request in the log. */
export const MARK = "x-fleet-ask";

export interface Place {
  readonly port: number;
  readonly grpcPort: number;
  readonly adminPort: number;
}

/** A request as HAProxy saw it. */
export interface Logged {
  /** Number of the process that it was sent to; undefined if none. */
  readonly to: number | undefined;
  /** HAProxy's two letters for how it ended: `--` is well. */
  readonly ended: string;
}

export interface Front {
  readonly url: string;
  /** All requests until now, by their mark. */
  logged(): ReadonlyMap<string, Logged>;
}

export async function startFront(places: readonly Place[]): Promise<Front> {
  const program = PROGRAMS.find(({ name }) => name === "haproxy");
  if (program === undefined) throw new Error("there is no HAProxy among the programs");
  installed(program);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "carryover-fleet-front-"));
  later(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, program.recipe), configuration(port, places));
  const child = await running(program, folder, [port]);
  if (child.over()) throw new Error(`HAProxy ended:\n${child.said()}`);
  return { url: `http://127.0.0.1:${port}`, logged: () => read(child.said()) };
}

const LINE = /^(\d+) p?(\S+) (\S+)$/gm;

function read(log: string): ReadonlyMap<string, Logged> {
  const found = Array.from(log.matchAll(LINE), ([, mark = "", to, ended = ""]) => {
    const number = Number(to);
    return [mark, { to: Number.isNaN(number) ? undefined : number, ended }] as const;
  });
  return new Map(found);
}

/** A connection that is refused is tried at another process: nothing was sent. Nothing else is sent twice. */
function configuration(port: number, places: readonly Place[]): string {
  const servers = (line: (place: Place) => string): string =>
    places.map((place, i) => `  server p${i} 127.0.0.1:${line(place)} inter 300ms fall 1 rise 1`).join("\n");
  return `global
  log stdout format raw local0
defaults
  mode http
  log global
  timeout connect 3s
  timeout client 60s
  timeout server 60s
  retries 3
  option redispatch 1
  retry-on conn-failure
frontend api
  bind 127.0.0.1:${port}
  http-request capture req.hdr(${MARK}) len 20
  log-format "%[capture.req.hdr(0)] %s %ts"
  use_backend grpc if { req.hdr(content-type) -m beg application/grpc }
  default_backend http
backend http
  balance roundrobin
  option httpchk GET /readyz
${servers(({ port: own, adminPort }) => `${own} check port ${adminPort}`)}
backend grpc
  balance roundrobin
  http-reuse never
  option httpchk GET /readyz
${servers(({ grpcPort, adminPort }) => `${grpcPort} proto h2 check port ${adminPort} check-proto h1`)}
`;
}
