import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSandbox } from "../../sandbox/src/sandbox.ts";
import { later, takeDownAfterEach } from "../end-to-end/app/rig.ts";
import { serve } from "../trust/lod/serving.ts";

takeDownAfterEach();

it("a client is named without a restart: its entry, its rule and its metrics have the name, and other changes are logged", async () => {
  const sandbox = createSandbox({ organisation: false });
  later(sandbox.close);
  const { url: platform } = await sandbox.listen();
  const folder = await mkdtemp(join(tmpdir(), "names-"));
  later(() => rm(folder, { recursive: true, force: true }));
  const [config, rules] = [join(folder, "config.yaml"), join(folder, "rules.yaml")];
  await writeFile(
    rules,
    "version: carryover/v1\nrules:\n  - { name: bots, match: { client: [ci-bot] }, mode: native }\n",
  );
  const text = `upstream: { v2: { url: "${platform}" }, v1: { url: "${platform}" } }
cutover: { mode: translate, rulesFile: "${rules}" }
state: { dir: "${join(folder, "state")}" }
`;
  await writeFile(config, text);
  const { run, url, adminUrl } = await serve({ config });
  const token = sandbox.token("admin");
  const ask = async () => {
    const headers = { authorization: `Bearer ${token}`, "user-agent": "builder/2.0" };
    return (await fetch(`${url}/iam/v1/roles`, { headers })).headers.get("carryover-mode");
  };
  expect(await ask()).toBe("translate");

  await writeFile(config, `${text}clients: { names: [ci-bot=builder] }\nlog: { level: warn }\n`);
  run.stop("SIGHUP");
  expect(await run.until(/clients.names was changed/)).toMatch(/"options":"log.level".*wait for a restart/);
  const { clients } = (await (await fetch(`${adminUrl}/clients`)).json()) as { clients: unknown[] };
  expect(clients).toMatchObject([{ name: "ci-bot", label: "ci-bot", requests: { v1: 1 } }]);
  expect(await ask()).toBe("native");
  expect(await (await fetch(`${adminUrl}/metrics`)).text()).toContain(
    'carryover_client_requests_total{client="ci-bot"',
  );

  await writeFile(config, "clients: { names: [broken] }\n");
  run.stop("SIGHUP");
  await run.until(/the one before it stays in force/);
  expect(await ask()).toBe("native");

  await writeFile(config, `${text}clients: { names: [robot=builder] }\n`);
  run.stop("SIGHUP");
  expect(await run.until(/no longer has clients that a rule names/)).toMatch(/"rule":"bots","clients":"ci-bot"/);
  expect(await ask()).toBe("translate");
  run.stop("SIGTERM");
  await run.ended;
  expect(await readFile(join(folder, "state", "counts.json"), "utf8")).toContain('"name":"robot"');

  // The name moves to another client while nothing runs.
  await writeFile(config, `${text}clients: { names: [hal=builder, robot=other] }\n`);
  const next = await serve({ config });
  const after = (await (await fetch(`${next.adminUrl}/clients`)).json()) as { clients: unknown[] };
  expect(after.clients).toMatchObject([{ name: "hal", label: "hal", requests: { v1: 4 } }]);
});
