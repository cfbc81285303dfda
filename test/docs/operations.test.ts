/** Does the page for operators name what there is to look at? */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { rigForTest, takeDownAfterEach } from "../app/rig.ts";
import { parsePrometheus } from "../observe/prometheus.ts";

takeDownAfterEach();

const page = readFileSync(resolve(import.meta.dirname, "../../docs/operations.md"), "utf8");
/** Of the process and of Node: as everybody has them. */
const COMMON = /^carryover_(process|nodejs)_/;

describe("docs/operations.md", () => {
  it("names every metric, and none that there is not", async () => {
    const { adminUrl } = await rigForTest();
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const there = [...parsePrometheus(text).types.keys()].filter((name) => !COMMON.test(name));
    const rows = page.slice(page.indexOf("## Metrics"), page.indexOf("## Log")).split("\n");
    const named = rows
      .filter((row) => row.startsWith("| `"))
      .flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([a-z_]+)`/g)].map(([, name]) => `carryover_${name}`));
    expect(named.toSorted()).toEqual(there.toSorted());
  });

  it("names every path of the admin port", async () => {
    const { adminUrl } = await rigForTest();
    const { message } = (await (await fetch(`${adminUrl}/nothing`)).json()) as { message: string };
    const there = [...message.matchAll(/\/[a-z.-]+/g)].map(([path]) => path);
    expect(there.length).toBeGreaterThan(8);
    expect(there.filter((path) => !new RegExp(`\`${path.replace(".", "\\.")}[?\`]`).test(page))).toEqual([]);
  });
});
