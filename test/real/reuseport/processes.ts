/** Several carryovers under Node 24 that share one port for HTTP and one for gRPC, in front of a platform of this process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { join } from "node:path";
import { freePorts } from "../../../scripts/free-ports.mjs";
import { later, listening } from "../../support/take-down.ts";
import { NODE24, ROOT, tool } from "../package/packed.ts";

export interface SharedPort {
  readonly url: string;
  readonly grpcUrl: string;
  /** Starts one process more; resolves once it listens. */
  start(): Promise<ChildProcess>;
}

/** `flags`: further options of each process. */
export async function sharedPort(flags: readonly string[] = []): Promise<SharedPort> {
  const platform = await startPlatform();
  const [port, grpcPort] = await freePorts(2);
  const options = {
    "listen-host": "127.0.0.1",
    "listen-port": port,
    "listen-grpc-port": grpcPort,
    "listen-reuse-port": true,
    "admin-port": 0,
    "upstream-v2-url": platform.url,
    "upstream-v2-grpc-url": platform.grpcUrl,
    "log-level": "warn",
  };
  const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  return {
    url: `http://127.0.0.1:${port}`,
    grpcUrl: `http://127.0.0.1:${grpcPort}`,
    start: () => start([join(ROOT, "dist/main.js"), "serve", ...words, ...flags]),
  };
}

async function start(words: readonly string[]): Promise<ChildProcess> {
  const child = spawn(tool(NODE24), words, { stdio: ["ignore", "inherit", "pipe"] });
  later(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  let text = "";
  for await (const chunk of child.stderr.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (!/gRPC clients at/.test(text)) continue;
    child.stderr.resume();
    return child;
  }
  throw new Error(`carryover did not start: ${text}`);
}

/** Answers every request and every call. */
async function startPlatform(): Promise<{ readonly url: string; readonly grpcUrl: string }> {
  const http = createHttp({ keepAliveTimeout: 60_000 }, (_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end('{"groups":[]}');
  });
  const grpc = createHttp2();
  grpc.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.resume();
    stream.once("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      // An empty message behind its prefix.
      stream.end(Buffer.alloc(5));
    });
  });
  return {
    url: `http://127.0.0.1:${await listening(http)}`,
    grpcUrl: `http://127.0.0.1:${await listening(grpc)}`,
  };
}
