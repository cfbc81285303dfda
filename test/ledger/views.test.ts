import { describe, expect, test } from "vitest";
import { clientsTable, clientsView } from "../../src/ledger/clients-view.ts";
import type { Exchange } from "../../src/model/exchange.ts";
import { call, exchange, ledgerOf } from "./samples.ts";

const MISSING = { status: 404, calls: [call(404)] };
const FAILURES: Readonly<Record<string, Partial<Exchange>>> = {
  get: MISSING,
  sbom: { status: 501, reason: "NOT_TRANSLATABLE", calls: [] },
  size: { status: 502, reason: "LIST_UNPROVEN" },
};

function filled() {
  const { ledger, clock } = ledgerOf({ max: 3 });
  clock.at = Date.UTC(2026, 10, 21, 14, 5, 30);
  for (let n = 0; n < 12; n++)
    ledger.observe(exchange("ci-bot", { operation: n < 8 ? "list" : "get", ...(n < 10 ? {} : MISSING) }));
  for (const operation of ["list", "get", "update", "sbom", "size"])
    ledger.observe(exchange("raw:日本", { operation, resource: "repo", ...FAILURES[operation] }));
  ledger.observe(exchange("one", { apiVersion: "v2", mode: "pass" }));
  ledger.observe(exchange("new", { apiVersion: "v2", mode: "pass" }));
  return ledger.snapshot();
}
const of = (query: string) => new URLSearchParams(query);

describe("the view", () => {
  test("is the snapshot, with how hard each client is to move and why", () => {
    const snapshot = filled();
    const view = clientsView(snapshot);
    expect(view.clients.map(({ name, difficulty }) => [name, difficulty])).toEqual([
      ["ci-bot", "renames"],
      ["raw:日本", "lacking"],
      ["new", "none"],
    ]);
    expect(view.clients[1]?.why).toBe("uses operations that v2 lacks: repo sbom, repo size");
    expect(view.clients.map(({ errors }) => errors)).toEqual([{ client: 2 }, { client: 1, translation: 2 }, undefined]);
    expect(view).toMatchObject({ version: 1, requests: { v1: 17, v2: 2 }, bound: 0 });
    const { days: _, ...first } = snapshot.clients[0]!;
    expect(view.clients[0]).toMatchObject({
      ...first,
      days: { counts: [{ date: "2026-11-21", v1: 12, v2: 0 }], v1Days: 1, v2Days: 0 },
    });
  });

  test("shows chosen clients only, and those that called v1 only", () => {
    const names = (query: string) => clientsView(filled(), of(query)).clients.map(({ name }) => name);
    expect(names("client=ci-bot")).toEqual(["ci-bot"]);
    expect(names("client=ci-bot&client=new")).toEqual(["ci-bot", "new"]);
    expect(names("client=raw:*")).toEqual(["raw:日本"]);
    expect(names("client=ci")).toEqual([]);
    expect(names("client=*")).toHaveLength(3);
    expect(names("v1=only")).toEqual(["ci-bot", "raw:日本"]);
    expect(names("v1=only&client=new")).toEqual([]);
    expect(() => clientsView(filled(), of("v1=yes"))).toThrow("v1: expected `only`");
  });
});

describe("the table", () => {
  test("is one line for each client, in columns", () => {
    expect(clientsTable(filled())).toMatchInlineSnapshot(`
      "client  v1  v2  last v1            difficulty  v1 errors                v1 operations
      ci-bot  12   0  2026-11-21 14:05Z  renames     2 client                 group list 8, group get 4 (2 failed)
      raw:日本   5   0  2026-11-21 14:05Z  lacking     1 client, 2 translation  repo get 1 (1 failed), repo list 1, repo sbom 1 (1 failed), repo size 1 (1 failed), and 1 more
      new      0   1  never              none

      3 of 3 clients; 17 v1 and 2 v2 requests, 1970-01-01 00:00Z to 2026-11-21 14:05Z
      1 v2 request came from clients that are not listed, or were not for a while: callers of v1 go first.
      "
    `);
  });

  test("says of which clients v1 counts may be too high, and how often somebody may have called v1 who is not listed", () => {
    const { ledger } = ledgerOf({ max: 2 });
    for (const name of ["a", "a", "a", "b", "c"]) ledger.observe(exchange(name));
    const lines = clientsTable(ledger.snapshot()).split("\n");
    expect(lines[2]).toMatch(/^c \(-1\) +2 +0 /);
    expect(lines[5]).toBe(
      "v1 counts may be too high by the number in brackets; a client that is not listed made at most 1 v1 request.",
    );
  });

  test("takes the same filters, and says how many there are in all", () => {
    expect(clientsTable(filled(), of("v1=only&client=ci-bot"))).toContain("1 of 3 clients; 17 v1 and 2 v2 requests");
    expect(() => clientsTable(filled(), of("v1="))).toThrow("v1: expected");
  });

  test("shows owners, buckets and what a rule takes, where there are any", () => {
    const { ledger } = ledgerOf({ identity: { ownerOf: (name) => (name === "a" ? { owner: "Build" } : undefined) } });
    for (const name of ["a", "b"]) ledger.observe(exchange(name));
    const takes = ({ name }: { readonly name: string }) =>
      name === "a" ? { taken: ["group list"], why: "all" } : { taken: [], why: "bucket 99.9999 is not below 10" };
    const rollout = {
      bucketOf: (name: string) => (name === "a" ? 1.26 : 99.99),
      rule: { name: "few", doing: "translate", takes },
    };
    const lines = clientsTable(ledger.snapshot(), of(""), rollout).split("\n");
    expect(lines[0]).toMatch(/^client {2}owner {2}v1 .* bucket {2}rule few +v1 errors/);
    expect(lines[1]).toMatch(/^a {7}Build .* renames +1.2 {2}yes: all/);
    expect(lines[2]).toMatch(/^b .* 99.9 {2}no: bucket 99.9999 is not below 10/);
    expect(lines[5]).toBe("rule few (translate) takes requests of 1 of them now.");
    const view = clientsView(ledger.snapshot(), of(""), rollout);
    expect(view.rule).toEqual({ name: "few", doing: "translate", taken: 1 });
    expect(view.clients[0]).toMatchObject({ owner: "Build", bucket: 1.2, rule: { taken: ["group list"] } });
  });

  test("of an empty ledger has a head and a foot", () => {
    expect(clientsTable(ledgerOf().ledger.snapshot()).split("\n")).toEqual([
      "client  v1  v2  last v1  difficulty  v1 errors  v1 operations",
      "",
      "0 of 0 clients; 0 v1 and 0 v2 requests, 1970-01-01 00:00Z to 1970-01-01 00:00Z",
      "",
    ]);
  });
});
