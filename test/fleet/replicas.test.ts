import { describe, expect, test } from "vitest";
import type { MigrationStatus } from "../../src/fleet/status.ts";
import type { Progress } from "../../src/telemetry/progress.ts";
import { instances, NOW, progress, run } from "../commands/status/support.ts";

type Shared = NonNullable<Progress["shared"]>;
const MINUTE = 60_000;

function replica(name: string, over: Partial<Shared["replicas"][number]> = {}): Shared["replicas"][number] {
  return { instance: name, name, version: "1.0.0", rules: "1a2b3c", startedAt: NOW, heardAt: NOW, ...over };
}

function shared(over: Partial<Shared> = {}): Progress {
  return progress({
    shared: { up: true, since: NOW - MINUTE, replicas: [replica("web-1"), replica("web-2")], ...over },
  });
}

async function status(...told: readonly Progress[]): Promise<MigrationStatus> {
  const addresses = told.map((_, at) => `${String.fromCharCode(97 + at)}:1`);
  const { out } = await run(["status", ...addresses, "--json"], { fetch: instances(...told) });
  return JSON.parse(out);
}

describe("carryover status about replicas that share a store", () => {
  test("names them all, though it asked only one", async () => {
    const { replicas, attention } = await status(shared());
    expect(replicas).toMatchObject([
      { name: "web-1", version: "1.0.0", rules: "1a2b3c", goneSince: null, left: false },
      { name: "web-2" },
    ]);
    expect(attention).toEqual([]);
    const { out } = await run(["status", "a:1"], { fetch: instances(shared()) });
    expect(out).toContain("1 instance of 2 replicas, ");
  });

  test("lists none for instances that share nothing", async () => {
    expect((await status(progress({}))).replicas).toEqual([]);
  });

  test("describes a replica as the instance does that heard of it last", async () => {
    const late = [replica("web-1", { heardAt: NOW + 5, rules: "4d5e6f" })];
    const { replicas } = await status(shared(), { ...shared({ replicas: late }), instance: "another" });
    expect(replicas.map(({ name, rules }) => [name, rules])).toEqual([
      ["web-1", "4d5e6f"],
      ["web-2", "1a2b3c"],
    ]);
  });

  test("says since when an instance has no store, and why", async () => {
    const { attention } = await status(shared({ up: false, since: NOW - 30 * MINUTE, fault: "connect ECONNREFUSED" }));
    expect(attention).toEqual(["http://a:1 has had no store since 21:00Z, and decides alone: connect ECONNREFUSED"]);
  });

  test("says that a store takes no counts", async () => {
    expect((await status(shared({ fault: "the store is full" }))).attention).toEqual([
      "http://a:1 has trouble with its store: the store is full",
    ]);
  });

  test("names replicas with other rules, and with other versions", async () => {
    const other = replica("web-3", { rules: "4d5e6f", version: "1.1.0" });
    const replicas = [replica("web-1"), replica("web-2"), replica("web-4"), other];
    expect((await status(shared({ replicas }))).attention).toEqual([
      "replicas have different rules: 1a2b3c in web-1, web-2 and 1 more; 4d5e6f in web-3",
      "replicas have different versions: 1.0.0 in web-1, web-2 and 1 more; 1.1.0 in web-3",
    ]);
  });

  test("names a replica that is gone for an hour, unless it was stopped", async () => {
    const replicas = [
      replica("killed", { goneSince: NOW - 30 * MINUTE, rules: "4d5e6f" }),
      replica("stopped", { goneSince: NOW - 30 * MINUTE, left: true }),
      replica("long-gone", { goneSince: NOW - 61 * MINUTE }),
    ];
    const { attention, replicas: listed } = await status(shared({ replicas: [replica("web-1"), ...replicas] }));
    expect(attention).toEqual(["replica killed is gone since 21:00Z, without having been stopped"]);
    expect(listed).toHaveLength(4);
  });
});
