/** Writes the run of docs/report.md. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createSandbox, type Sandbox } from "../../sandbox/src/sandbox.ts";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { SendLayer } from "../../src/model/http.ts";
import { createApp } from "../../src/runtime/app.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { Progress } from "../../src/telemetry/progress.ts";
import { runCommand } from "../command.ts";
import { upToNumbers, withBlock } from "./blocks.ts";

/** Addresses in the documentation; those of the test have free ports, and at the second nobody listens. */
const SHOWN = ["http://10.0.0.1:8081", "http://10.0.0.2:8081"] as const;

const RULES = `version: carryover/v1
rules:
  - name: terraform
    match: { client: terraform }
    mode: translate
  - name: everything-else
    match: {}
    mode: shadow
    shadow: { sample: 1 }
`;

/** Native v1 has what the sandbox lacks, as v2 does. */
const serveHistory: SendLayer = (next) => async (request, options) => {
  if (!request.target.endsWith("/history")) return next(request, options);
  return { status: 200, headers: [["content-type", "application/json"]], body: Buffer.from('{"items":[]}') };
};

/** A list longer than a page, a PUT that leaves fields out, what v2 lacks, and one client that has moved. */
async function traffic(url: string, sandbox: Sandbox): Promise<void> {
  const authorization = `Bearer ${sandbox.token("admin")}`;
  const { someGroup } = sandbox.wellKnown;
  const ask = async (agent: string, target: string, init: RequestInit = {}): Promise<void> => {
    const headers = { authorization, "user-agent": `${agent}/1.0` };
    await (await fetch(url + target, { ...init, headers })).arrayBuffer();
  };
  await ask("terraform", "/iam/v1/groups");
  await ask("terraform", `/iam/v1/groups/${someGroup}`, { method: "PUT", body: JSON.stringify({ name: "renamed" }) });
  for (let i = 0; i < 12; i++) await ask("ci-bot", "/iam/v1/roles");
  await ask("ci-bot", `/registry/v1/tags/${someGroup}/history`);
  for (let i = 0; i < 30; i++) await ask("web", "/iam/v2beta1/groups?page_size=2");
}

/** Comparisons are made in the background. */
async function compared(adminUrl: string, count: number): Promise<void> {
  for (const end = Date.now() + 15_000; Date.now() < end; await sleep(5)) {
    const { bounds } = (await (await fetch(`${adminUrl}/progress`)).json()) as Progress;
    if (bounds.find(({ client }) => client === undefined)?.comparisons === count) return;
  }
  throw new Error(`docs/report.md: there are not ${count} comparisons after 15 seconds`);
}

async function carryover(v2: string, rulesFile: string) {
  const { config } = loadConfig({
    flags: {
      ...{ listenHost: "127.0.0.1", listenPort: "0", adminPort: "0" },
      ...{ upstreamV2Url: v2, upstreamV1Url: v2, upstreamStsUrl: v2 },
      ...{ cutoverRulesFile: rulesFile, cutoverMode: "native", clientsIdentify: "user-agent" },
    },
    env: {},
    readFile: (path) => readFileSync(path),
  });
  return createApp(config, await loadCatalogue(config.upstream.v2.version), { log: createLog({ level: "silent" }) });
}

/** What `use` gives of an instance that was called, and of one that cannot be reached, at the addresses of the documentation. */
export async function onInstances<T>(
  use: (addresses: readonly string[], real: typeof fetch) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "carryover-report-"));
  const rulesFile = join(folder, "rules.yaml");
  writeFileSync(rulesFile, RULES);
  const sandbox = createSandbox({ size: 400, faults: serveHistory });
  const app = await carryover((await sandbox.listen()).url, rulesFile);
  try {
    const { url, adminUrl = "" } = await app.listen();
    await traffic(url, sandbox);
    await compared(adminUrl, 12);
    const real: typeof fetch = (address, init) =>
      String(address).startsWith(SHOWN[0])
        ? fetch(String(address).replace(SHOWN[0], adminUrl), init)
        : Promise.reject(
            new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) }),
          );
    return await use(SHOWN, real);
  } finally {
    await app.close(0);
    await sandbox.close();
    rmSync(folder, { recursive: true });
  }
}

async function printed(addresses: readonly string[], real: typeof fetch): Promise<string> {
  const { code, out, err } = await runCommand(["report", ...addresses, "--window", "7d"], { fetch: real });
  if (code === 2 && err === `${addresses[1]} cannot be reached (ECONNREFUSED)\n`) return out;
  throw new Error(`docs/report.md: the report ended with ${code}: ${err}`);
}

/** `docs/report.md`, from the page as it is. */
export async function reportPage(page: string): Promise<string> {
  return withBlock(page, "run", `\`\`\`\n${(await onInstances(printed)).trimEnd()}\n\`\`\``, upToNumbers);
}
