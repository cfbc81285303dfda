import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { carryover } from "../../end-to-end/app/process.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { started } from "../cluster/kubelet.ts";
import { CHART, type Manifest, objects } from "./chart.ts";
import { finderWith } from "./given.ts";
import { seenBy } from "./pod.ts";
import { proxyOf } from "./workloads.ts";

vi.setConfig({ testTimeout: 120_000 });
takeDownAfterEach();

const PLATFORM = /at (http:\/\/127\.0\.0\.1:\d+)[\s\S]*TOKEN=(\S+)\n/;
const CLIENTS = /v1 clients at (\S+?),[\s\S]*admin at (\S+?),/;

describe("the emergency command of the runbook", () => {
  const block = readFileSync(join(CHART, "../docs/runbook.md"), "utf8")
    .split("```")
    .find((text) => text.startsWith("sh note\nfor pod in $(kubectl"));
  const words = /-- node \/app\/dist\/main\.js (.*)\n/.exec(block ?? "")?.[1]?.split(" ") ?? [];

  it("selects the pods by labels that they have", async () => {
    const { labels, container } = proxyOf(
      await objects({ set: { config: { upstream: { v2: { url: "https://a" } } } } }),
    );
    const selector = /--selector (\S+)\)/.exec(block ?? "")?.[1] ?? "";
    expect(Object.fromEntries(selector.split(",").map((pair) => pair.split("=")))).toEqual({
      "app.kubernetes.io/instance": labels["app.kubernetes.io/instance"],
      "app.kubernetes.io/component": labels["app.kubernetes.io/component"],
    });
    expect(block).toContain(`--container ${container.name} `);
  });

  it.each<[string, Manifest]>([
    ["no admin token", {}],
    ["a token in the values", { adminToken: { value: "a-token-of-the-values" } }],
    ["a token that is generated", { adminToken: { generate: true } }],
    ["a Secret with a token", { adminToken: { existingSecret: "theirs", key: "token" } }],
    ["another admin port", { config: { admin: { port: 9000 } } }],
  ])("sends everything back to native v1 with %s", async (_, more) => {
    const sandbox = carryover(["sandbox", "--listen-port", "0", "--records", "10"]);
    const [, platform = "", token = ""] = PLATFORM.exec(await sandbox.until(PLATFORM)) ?? [];
    const at = { url: platform };
    const config = { upstream: { v2: at, v1: at, sts: at }, cutover: { mode: "translate" }, ...more.config };
    const values = { ...more, config };
    const all = await objects({ set: values });
    const { pod, container: spec } = proxyOf(all);
    const seen = seenBy(spec, pod, finderWith(all, values));
    expect(seen.env["CARRYOVER_ADMIN_PORT"] ?? "8081").toBe(String(config.admin?.port ?? 8081));
    const container = await started(seen);
    const [, url = "", admin = ""] = CLIENTS.exec(await container.process.until(CLIENTS)) ?? [];
    const mode = async () => {
      const response = await fetch(`${url}/iam/v1/roles`, { headers: { authorization: `Bearer ${token}` } });
      await response.arrayBuffer();
      return response.headers.get("carryover-mode");
    };
    expect(await mode()).toBe("translate");
    const command = container.exec(words, new URL(admin).port);
    expect([await command.ended, command.out()]).toEqual([
      { code: 0, signal: null },
      expect.stringContaining("is forced to native v1 from the next request on"),
    ]);
    expect(await mode()).toBe("native");
  });
});
