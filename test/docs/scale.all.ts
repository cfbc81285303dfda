import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createSandbox } from "../../sandbox/src/sandbox.ts";
import { later, takeDownAfterEach } from "../end-to-end/app/rig.ts";
import { exchange } from "../end-to-end/comparison/http.ts";
import { startCarryover } from "../support/carryover.ts";
import { tableOf } from "./tables.ts";

takeDownAfterEach();

const file = (path: string): string => readFileSync(resolve(import.meta.dirname, "../..", path), "utf8");
const page = file("docs/scale.md");

const worked = (name: string) => tableOf(page, `worked: ${name}`);

/** As the page has it; a number of its prose is found by the words behind it. */
const said = (pattern: RegExp): number => Number((pattern.exec(page)?.[1] ?? "").replaceAll(",", ""));
const thousands = (value: number): string => value.toLocaleString("en");
const callsOf = (records: number): number => {
  if (records > 10_000) return Math.ceil(records / 200);
  return 1 + Math.max(0, Math.ceil((records - 200) / 190));
};

describe("docs/scale.md", () => {
  it("has the figures of bench/replicas.json, every one", async () => {
    const { filledIn } = await import("../../bench/replicas/page.mjs");
    expect(filledIn(page, JSON.parse(file("bench/replicas.json")))).toBe(page);
  });

  it("divides a platform's limit by the calls of a list", () => {
    const share = said(/([\d,]+) calls a minute or/);
    expect(share).toBe(said(/allows \*\*([\d,]+) calls a minute/) / 2);
    const rows = worked("lists");
    expect(rows.length).toBeGreaterThan(3);
    for (const [records = "", calls, lists] of rows) {
      const count = callsOf(Number(records.replaceAll(",", "")));
      expect([records, calls, lists]).toEqual([records, thousands(count), thousands(Math.floor(share / count))]);
    }
  });

  it("divides page reads by replicas", () => {
    const perSecond = said(/calls a minute or (\d+) a second/);
    const seconds = said(/At (\d+) ms a page/) / 1000;
    const inAll = perSecond * seconds;
    expect(said(/a second are (\d+) page reads at a time/)).toBe(inAll);
    const defaults = said(/`lists.readersPerUpstream` \((\d+)\)/);
    for (const [replicas = "", readers, most, all] of worked("readers")) {
      const count = Number(replicas);
      const each = Math.floor(inAll / count);
      expect([replicas, readers, most, all]).toEqual([
        replicas,
        each > 0 ? String(each) : "cannot be: 1 is the least",
        thousands((Math.max(1, each) * count) / seconds),
        thousands((defaults * count) / seconds),
      ]);
    }
  });

  it.each([150, 1_000, 5_000, 12_000])(
    "counts the calls of a list of some %i records as carryover makes them",
    async (size) => {
      const sandbox = createSandbox({ organisation: false, size });
      const { url: v2Url } = await sandbox.listen();
      later(() => sandbox.close());
      const calls: number[] = [];
      const { url, close } = await startCarryover({
        v2Url,
        flags: { upstreamV2PageTokens: "keyset" },
        onExchange: (one) => calls.push(one.calls.length),
      });
      later(close);
      const headers = { authorization: `Bearer ${sandbox.token("admin")}` };
      const answer = await exchange({ method: "GET", url, target: "/iam/v1/groups", headers, body: undefined });
      const { items } = JSON.parse(new TextDecoder().decode(answer.body));
      expect(items.length).toBeGreaterThanOrEqual(size);
      expect(calls).toEqual([callsOf(items.length)]);
    },
  );

  it("names the defaults that there are", () => {
    const options = file("docs/configuration.md");
    const named = [...page.matchAll(/`((?:lists|limits|shadow|clients)\.[a-zA-Z.]+)` \(([\d,]+(?: MiB)?)\)/g)];
    expect(named.length).toBeGreaterThan(8);
    for (const [, path = "", value = ""] of named) {
      const [, , fallback] = new RegExp(`^\\| \`${path}\` \\| ([^|]*) \\| \`([^\`]*)\``, "m").exec(options) ?? [];
      expect([path, fallback]).toEqual([path, value.replaceAll(",", "").replace(" ", "")]);
    }
  });

  it("has the resources of the chart", () => {
    const { requests, limits } = parse(file("helm/values.yaml")).resources;
    const row = `| as the chart has it | cpu ${requests.cpu}, memory ${requests.memory} | memory ${limits.memory} |`;
    expect(page).toContain(row);
    const scaled = parse(file("helm/ci/autoscaling-values.yaml")).resources;
    expect(page).toContain(
      `| cpu ${scaled.requests.cpu}, memory ${scaled.requests.memory} | memory ${scaled.limits.memory} |`,
    );
    expect(scaled.requests.cpu).not.toBe(requests.cpu);
    expect(limits.cpu).toBeUndefined();
  });
});
