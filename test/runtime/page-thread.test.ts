/** What the thread of the page is told, and what it makes of it. */
import { expect, test } from "vitest";
import type { StoredPeer } from "../../src/runtime/fleet-peers.ts";
import type { PageFacts, PageRows } from "../../src/runtime/page-messages.ts";
import { createTeller } from "../../src/runtime/page-teller.ts";
import { openPageThread } from "../../src/runtime/page-thread.ts";
import { later, takeDownAfterEach } from "../support/take-down.ts";
import { documentRig } from "./document-rig.ts";

takeDownAfterEach();

function stage(peers?: () => Promise<readonly StoredPeer[]>) {
  const made = documentRig();
  const thread = openPageThread({
    ...{ catalogue: "v2beta1", recordTimes: "all", salt: "s", hasNative: true, values: "redact" },
  });
  const told: (PageRows | PageFacts)[] = [];
  const tell = (message: PageRows | PageFacts): void => {
    told.push(message);
    thread.tell(message);
  };
  const teller = createTeller(
    {
      rows: made.sources,
      fleet: { peers: async () => peers && { peers: await peers(), unread: [] } },
      shared: () => undefined,
      guardsTogether: () => TOGETHER,
      rules: () => undefined,
      owners: () => [["ci", { owner: "Team A" }]],
      instance: "0123456789",
      wall: () => made.clock.at,
      now: () => made.clock.now,
      metrics: { values: async () => [] },
      past: undefined,
      load: () => ({ inFlight: 1, inFlightLimit: 9, heldBytes: 0, heldLimit: 9, lists: NO_LISTS, upstreams: [] }),
    },
    tell,
  );
  later(async () => {
    teller.close();
    thread.close();
  });
  let turn = 0;
  return {
    ...{ made, thread, teller, told },
    home: async (query = "") => {
      await teller.update();
      return textOf(await thread.ask("home", { query, formToken: undefined }));
    },
    news: async (...have: readonly number[]) => {
      await teller.update();
      turn += 1;
      const [found] = await thread.ask("news", { turn, asked: [{ query: "", have }] });
      return { before: found?.before, changes: textOf(found?.changes), whole: found?.whole && textOf(found.whole) };
    },
  };
}

const TOGETHER = new Map([["reads", { replicas: 2, evidence: 0.5 }]]);
const NO_LISTS = { reading: 0, waiting: 0 };
const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const idsIn = (events: string): readonly string[] => Array.from(events.matchAll(/"id":"(\w+)"/g), ([, id = ""]) => id);

test("the page shows what was counted, with owners, and is told what the guards of all replicas find", async () => {
  const { made, home, told } = stage();
  made.call("ci");
  const html = await home();
  expect(html).toContain('href="/page/client?client=ci"');
  expect(html).toContain("Team A");
  const [facts] = told.filter((one) => one.do === "facts");
  expect(facts?.guardsTogether).toEqual(TOGETHER);
});

test("a client is told again only if it called, and is gone once it was forgotten", async () => {
  const { made, home, told } = stage();
  for (let n = 0; n < 300; n++) made.call(`client-${n}`);
  await home();
  told.length = 0;
  made.call("client-7");
  expect(await home("q=client-7")).toContain("client-7</a>");
  const names = told.flatMap((one) => (one.do === "rows" ? one.rows.map(([name]) => name) : []));
  expect(names.filter((name) => name.startsWith("doc:clients:"))).toHaveLength(1);
  made.ledger.forget(["client-7"]);
  expect(await home("q=client-7&state=all")).not.toContain('client=client-7"');
  expect(await home("q=client-7")).toContain("299 clients");
});

test("the last client of a row is gone, too, once it was forgotten", async () => {
  const { made, home } = stage();
  made.call("ci");
  expect(await home()).toContain("client=ci");
  made.ledger.forget(["ci"]);
  expect(await home()).toContain("No client has called yet.");
});

test("viewers are sent the whole page once, and then the lines that changed", async () => {
  const { made, news } = stage();
  for (const name of ["ci", "web"]) made.call(name);
  const first = await news(0);
  expect([first.before, first.changes]).toEqual([undefined, ""]);
  expect(idsIn(first.whole ?? "")).toEqual([
    ...[
      "state",
      "headline",
      "progress",
      "rules",
      "clients",
      "brownouts",
      "differences",
      "events",
      "load",
      "cost",
      "fleet",
    ],
  ]);
  const same = await news(1);
  expect([same.before, same.whole]).toEqual([1, undefined]);
  // Memory and delays are those of the test.
  expect(idsIn(same.changes).filter((id) => id !== "load")).toEqual([]);
  made.call("ci");
  const changed = await news(2, 0);
  expect(idsIn(changed.changes)).toContain("clients");
  expect(changed.changes).toContain("event: lines");
  expect(changed.changes).not.toContain("web");
  expect(changed.whole).toContain("web");
});

test("what another replica counted is told as the store has it, and read in the thread", async () => {
  const other = documentRig({ id: "other" });
  other.call("nightly");
  other.publisher.start();
  let rows: ReadonlyMap<string, string> = other.rows();
  const peers = async (): Promise<readonly StoredPeer[]> => [
    { contributor: "other", name: "host-2", goneSince: undefined, document: await other.read(), rows },
  ];
  const { made, home } = stage(peers);
  made.call("ci");
  const html = await home();
  expect(html).toContain("2 clients");
  expect(html).toContain("client=nightly");
  rows = new Map([...rows].filter(([name]) => !name.startsWith("doc:clients:")));
  expect(await home()).not.toContain("client=nightly");
});

test("a client's own page has its way out; an unknown one has none", async () => {
  const { made, teller, thread } = stage();
  made.call("ci");
  await teller.update();
  expect(textOf(await thread.ask("client", { name: "ci" }))).toContain("Way out of v1 for");
  expect(await thread.ask("client", { name: "web" })).toBeUndefined();
});

test("a question that cannot be answered is refused, and so is each one after the end", async () => {
  const { thread } = stage();
  await expect(thread.ask("home", { query: "", formToken: undefined })).rejects.toThrow("was not told");
  const open = thread.ask("home", { query: "", formToken: undefined });
  thread.close();
  await expect(open).rejects.toThrow("has ended");
  await expect(thread.ask("home", { query: "", formToken: undefined })).rejects.toThrow("has ended");
});
