/** Starts carryover as a separate process in front of a platform, and counts what clients lose. */
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { carryover, type Running } from "../../end-to-end/app/process.ts";

/** One process that serves. */
export interface Instance {
  readonly run: Running;
  readonly url: string;
  readonly adminUrl: string;
}

/** Starts `carryover serve` on free ports; it listens when this resolves. */
export async function serve(
  flags: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
  files?: number,
  main?: string,
): Promise<Instance> {
  const own = { listenHost: "127.0.0.1", listenPort: "0", adminPort: "0", cutoverMode: "translate" };
  const words = Object.entries({ ...own, ...flags });
  const run = carryover(
    ["serve", ...words.flatMap(([name, value]) => [`--${name.replace(/[A-Z]/g, "-$&").toLowerCase()}`, value])],
    env,
    files,
    main,
  );
  const text = await run.until(/resources\n/);
  const [, url = "", adminUrl = ""] = /v1 clients at (\S+), .* admin at (\S+),/.exec(text) ?? [];
  return { run, url, adminUrl };
}

/** What clients saw, all together. */
export interface Tally {
  answers: number;
  /** Answers that said `Connection: close`. */
  last: number;
  bytes: number;
  /** New connections that were refused: carryover has stopped. */
  refused: number;
  /** Of them those that the port's closing met in the kernel's queue: connected, and never taken in. */
  queued: number;
  readonly failures: string[];
}

export function tally(): Tally {
  return { answers: 0, last: 0, bytes: 0, refused: 0, queued: 0, failures: [] };
}

export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent in these pieces, `gapMs` between them. */
  readonly body?: readonly string[];
  readonly gapMs?: number;
  /** What is wrong with a whole answer; undefined: nothing. */
  readonly fault: (status: number, body: string) => string | undefined;
}

/** A client with one kept connection that repeats requests until connections are refused, or `until` returns true. */
export async function asking(url: string, next: () => Ask, until: () => boolean, seen: Tally): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!until()) {
    const ask = next();
    try {
      const { status, body, last } = await once(url, ask, agent);
      const fault = ask.fault(status, body);
      if (fault !== undefined) seen.failures.push(`${ask.method} ${ask.path}: ${fault}`);
      seen.answers++;
      seen.bytes += body.length;
      if (last) seen.last++;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
      const queued = code === "ECONNRESET" && isNew(error) && (await isGone(url));
      if (code === "ECONNREFUSED" || queued) {
        seen.refused++;
        if (queued) seen.queued++;
        break;
      }
      seen.failures.push(`${ask.method} ${ask.path}: ${code}`);
    }
  }
  agent.destroy();
}

const isNew = (error: unknown): boolean => error instanceof Error && "unanswered" in error;

/** True when nothing listens there any more. */
function isGone(url: string): Promise<boolean> {
  return once(url, { method: "GET", path: "/", fault: () => undefined }).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ECONNREFUSED",
  );
}

interface Got {
  readonly status: number;
  readonly body: string;
  readonly last: boolean;
}

/** Rejects when the answer breaks off. */
export function once(url: string, { method, path, headers, body = [], gapMs = 0 }: Ask, agent?: Agent): Promise<Got> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const length = body.length === 0 ? {} : { "content-length": String(body.join("").length) };
    const request = httpRequest({
      ...{ hostname, port, method, path, agent: agent ?? false },
      headers: { ...headers, ...length },
    });
    // On a connection that had no request before, and nothing came.
    request.on("error", (error) => reject(request.reusedSocket ? error : Object.assign(error, { unanswered: true })));
    request.on("response", (response) => whole(response).then(resolve, reject));
    void send(request, body, gapMs);
  });
}

async function send(request: ReturnType<typeof httpRequest>, body: readonly string[], gapMs: number): Promise<void> {
  for (const piece of body) {
    request.write(piece);
    await new Promise((resolve) => setTimeout(resolve, gapMs));
  }
  request.end();
}

function whole(response: IncomingMessage): Promise<Got> {
  return new Promise((resolve, reject) => {
    let body = "";
    response.setEncoding("latin1").on("data", (piece: string) => {
      body += piece;
    });
    response.once("error", reject);
    response.once("close", () => {
      if (!response.complete) reject(new Error("the answer broke off"));
      else resolve({ status: response.statusCode ?? 0, body, last: response.headers.connection === "close" });
    });
  });
}
