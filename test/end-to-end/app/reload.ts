/** Replicas whose rules file changes while clients ask: used with few changes in `npm test`, with a thousand in `npm run test:all`. */
import { writeFileSync } from "node:fs";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { startCarryover } from "../../support/carryover.ts";
import { later } from "./rig.ts";

/** Between two requests of one client. */
const PACE_MS = 5;

export function rules(mode: string, remark = "", top = ""): string {
  return `version: carryover/v1\n${top}rules:\n  - name: all\n    match: {}\n    mode: ${mode}\n# ${remark}\n`;
}

export interface FileState {
  readonly digest: string;
  readonly reloads: number;
  readonly failing?: {
    readonly message: string;
    readonly faults: readonly { readonly where: string; readonly what: string; readonly remedy: string }[];
  };
}

/** What the admin port says of the rules file. */
async function stateOf(adminUrl: string): Promise<FileState> {
  const response = await fetch(`${adminUrl}/rules`);
  return ((await response.json()) as { rulesFile: FileState }).rulesFile;
}

/** Resolves when the admin port says that it is so; the test's own time is the limit. */
export async function until(adminUrl: string, holds: (state: FileState) => boolean): Promise<FileState> {
  for (;;) {
    const state = await stateOf(adminUrl);
    if (holds(state)) return state;
    await sleep(5);
  }
}

interface Load {
  readonly requests: number;
  /** Everything that was not 200, or no answer at all. */
  readonly failed: readonly string[];
  readonly modes: ReadonlyMap<string, number>;
  /** Connections that were opened. */
  readonly connections: number;
}

/** One client that asks one thing after another on one connection, until it is stopped. */
function client(url: string, sandbox: Sandbox): () => Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const authorization = `Bearer ${sandbox.token("admin")}`;
  const { someGroup, emptyGroup } = sandbox.wellKnown;
  const asks = [
    // (Native v1 has no Get of a group.)
    ["GET", `/iam/v1/groups?id=${someGroup}`],
    ["GET", "/iam/v1/groups"],
    ["PUT", `/iam/v1/groups/${emptyGroup}`, '{"name":"kept"}'],
    ["GET", "/iam/v1/roles?name=viewer"],
  ] as const;
  const failed: string[] = [];
  const modes = new Map<string, number>();
  const state = { stopped: false, requests: 0, connections: 0 };
  const send = (method: string, path: string, body: string | undefined) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const sent = httpRequest(`${url}${path}`, { method, agent, headers: { authorization } });
      sent.on("error", reject);
      sent.on("socket", () => {
        if (!sent.reusedSocket) state.connections += 1;
      });
      sent.on("response", (response) => {
        response.on("error", reject);
        response.on("end", () => resolve(response));
        response.resume();
      });
      sent.end(body);
    });
  const running = (async () => {
    while (!state.stopped) {
      const [method, path, body] = asks[state.requests % asks.length] ?? asks[0];
      state.requests += 1;
      try {
        const { statusCode, headers } = await send(method, path, body);
        const mode = String(headers["carryover-mode"]);
        modes.set(mode, (modes.get(mode) ?? 0) + 1);
        if (statusCode !== 200) failed.push(`${method} ${path}: ${statusCode} (${mode})`);
      } catch (error) {
        failed.push(`${method} ${path}: ${String(error)}`);
      }
      await sleep(PACE_MS);
    }
    agent.destroy();
  })();
  return async () => {
    state.stopped = true;
    await running;
    return { requests: state.requests, failed, modes, connections: state.connections };
  };
}

/** Changes the file at `path` that often, every fifth time to a bad one, while a client asks each replica; checks what all of them saw. */
export async function reloadUnderLoad({
  path,
  replicas: count,
  changes,
}: {
  readonly path: string;
  readonly replicas: number;
  readonly changes: number;
}): Promise<void> {
  writeFileSync(path, rules("native", "start"));
  const sandbox = seededSandbox();
  later(sandbox.close);
  const { url: platform } = await sandbox.listen();
  const replicas = await Promise.all(
    Array.from({ length: count }, async () => {
      const flags = { cutoverRulesFile: path };
      const one = await startCarryover({ v2Url: platform, v1Url: platform, flags, reloadMs: 50 });
      later(one.close);
      return one;
    }),
  );
  const clients = replicas.map(({ url }) => client(url, sandbox));
  const good = { digests: new Set<string>(), changes: 0 };
  for (let change = 1; good.changes < changes; change++) {
    const bad = change % 5 === 0;
    const mode = bad ? "neither" : change % 2 === 0 ? "native" : "translate";
    writeFileSync(path, rules(mode, `change ${change}`));
    if (!bad) good.changes += 1;
    const states = await Promise.all(
      replicas.map(({ adminUrl }) =>
        until(adminUrl, ({ reloads, failing }) => reloads === good.changes && (failing !== undefined) === bad),
      ),
    );
    // What is bad leaves the one before it in force.
    for (const { digest } of states) good.digests.add(digest);
    expect(good.digests.size).toBe(good.changes);
  }
  const loads = await Promise.all(clients.map((stop) => stop()));
  expect(loads.flatMap(({ failed }) => failed).slice(0, 5)).toEqual([]);
  expect(loads.map(({ connections }) => connections)).toEqual(clients.map(() => 1));
  const all = (await Promise.all(replicas.map(({ adminUrl }) => stateOf(adminUrl)))).map(({ reloads }) => reloads);
  expect(all.reduce((sum, reloads) => sum + reloads)).toBe(count * changes);
  // Each of them saw both.
  for (const { modes, requests } of loads) {
    expect([...modes.keys()].toSorted()).toEqual(["native", "translate"]);
    expect([...modes.values()].reduce((sum, one) => sum + one)).toBe(requests);
  }
}
