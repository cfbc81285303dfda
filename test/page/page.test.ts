import { describe, expect, it } from "vitest";
import type { ClientEntry } from "../../src/ledger/entry.ts";
import { clientPage } from "../../src/page/client.ts";
import { liveParts as eachPart, renderPage } from "../../src/page/page.ts";
import type { BrownoutStatus } from "../../src/rules/status.ts";
import { type Amounts, AT, clientOf, pageData } from "./data.ts";

const assets = { css: "/c.css", script: "/s.js", icon: "/i.svg" };

const liveParts = (...all: Parameters<typeof eachPart>) => new Map(eachPart(...all));

function shown(amounts: Amounts = {}, query = "") {
  return renderPage(pageData("reads", amounts), new URLSearchParams(query), { assets });
}

function partOf(amounts: Amounts, id: string, query = ""): string {
  return liveParts(pageData("reads", amounts), new URLSearchParams(query)).get(id) ?? "";
}

const count = (text: string, what: string | RegExp): number => text.split(what).length - 1;

describe("the page", () => {
  it("shows 25 of ten thousand clients, with the pages between, and stays small", () => {
    const clients = partOf({ clients: 10_000 }, "clients");
    expect(count(clients, "<tr>")).toBe(26);
    expect(clients).toContain("Page 1 of 400");
    expect(partOf({ clients: 10_000 }, "clients", "clients=400")).toContain("Page 400 of 400");
    expect(partOf({ clients: 10_000 }, "clients", "clients=99999")).toContain("Page 400 of 400");
    expect(shown({ clients: 10_000 }).length).toBeLessThan(250_000);
  });

  it("finds, narrows and sorts clients", () => {
    expect(count(partOf({ clients: 50 }, "clients", "q=READS%2049"), "<tr>")).toBe(2);
    expect(partOf({ clients: 50 }, "clients", "resource=other")).toContain("No client matches");
    expect(partOf({ clients: 50 }, "clients", "state=moved")).toContain("No client matches");
    expect(count(partOf({ clients: 12 }, "clients", "sort=name&q=reads&state=left"), "<tr>")).toBe(13);
  });

  it("keeps the filter in the links to other pages, and the time shown in the filter", () => {
    const clients = partOf({ clients: 100 }, "clients", "q=reads&sort=name&span=days");
    expect(clients).toContain('href="/?span=days&amp;q=reads&amp;sort=name&amp;clients=2#clients"');
    expect(clients).toContain('<input type="hidden" name="span" value="days">');
  });

  it("numbers a thousand rules over pages, and shows a hundred replicas", () => {
    const rules = partOf({ rules: 1_000 }, "rules", "rules=2");
    expect(rules).toContain('start="26"');
    expect(count(rules, '<li class="rule">')).toBe(25);
    expect(count(partOf({ replicas: 100 }, "fleet"), "<tr>")).toBe(101);
  });

  it("says that there is nothing where nothing was counted, never zero", () => {
    const data = pageData("reads", { clients: 0, rules: 0, replicas: 0 });
    const empty = {
      ...data,
      status: { ...data.status, standing: null, attention: [], ahead: [], change: null },
      hours: { ...data.hours, points: data.hours.points.map(({ at }) => ({ at, counts: undefined })) },
      events: [],
      rows: undefined,
      samples: { ...data.samples, samples: [] },
      cost: undefined,
      load: undefined,
    };
    const parts = liveParts(empty, new URLSearchParams());
    expect(parts.get("headline")).toContain('<p class="big">–</p>');
    expect(parts.get("headline")).not.toContain("0 %");
    expect(parts.get("headline")).toContain("Nothing needs attention");
    expect(parts.get("progress")).toContain("No request was counted in this time");
    expect(parts.get("clients")).toContain("No client has called yet");
    expect(parts.get("rules")).toContain("There are no rules");
    expect(parts.get("brownouts")).toContain("No rule has <code>mode: brownout</code>");
  });

  it("shows a migration in which everything is translated", () => {
    const data = pageData("reads");
    const all = { native: 0, shadow: 0, translated: 30, v2: 5 };
    const whole = (points: typeof data.hours.points) => points.map(({ at }) => ({ at, counts: all }));
    const { standing } = data.status;
    const done = {
      ...data,
      status: {
        ...data.status,
        standing: standing && { ...standing, translatedShare: 1, clients: 9, moved: 9, silent: [] },
      },
      hours: { ...data.hours, points: whole(data.hours.points) },
      days: { ...data.days, points: whole(data.days.points) },
    };
    const headline = liveParts(done, new URLSearchParams()).get("headline") ?? "";
    expect(headline).toContain('<p class="big">100 %</p>');
    expect(headline).toContain('<p class="big">9<small> of 9</small></p>');
    expect(headline).toContain("0 clients still on v1");
    expect(headline).toContain("as the day before");
    const part = { ...done.status, window: { ...done.status.window, limits: "counted for 30 s only" } };
    const young = liveParts({ ...done, status: part }, new URLSearchParams()).get("headline") ?? "";
    expect(young).not.toContain("as the day before");
    const progress = liveParts(done, new URLSearchParams("span=days")).get("progress") ?? "";
    expect(progress).not.toContain("NaN");
  });

  it("bounds what needs attention, and shows what to paste at its place", () => {
    const data = pageData("reads");
    const attention = Array.from({ length: 40 }, (_, at) => `trouble ${at}`);
    const change = { file: "rules", rule: "role-reads", key: "mode", value: "translate" } as const;
    const paste = ["mode: translate", "match: { percent: 25 }"];
    const status = { ...data.status, attention, change: { ...change, paste } };
    const headline = liveParts({ ...data, status }, new URLSearchParams()).get("headline") ?? "";
    expect(headline).toContain("And 28 more");
    const next = { ...data.status, next: "look at it (/samples), and go on" };
    expect(liveParts({ ...data, status: next }, new URLSearchParams()).get("headline")).toContain(
      'Look at it (<a href="#differences">samples</a>), and go on.',
    );
    expect(headline).toMatch(/In rule role-reads:<\/p><pre[^>]*><code>mode: translate\n<\/code>/);
    expect(headline).toMatch(/In match of rule role-reads:<\/p><pre[^>]*><code>percent: 25\n<\/code>/);
  });

  it("shows what the guard of this replica counted, what those of all did, and what it needs before it judges", () => {
    const data = pageData("reads");
    const [rule] = data.rules;
    if (rule === undefined) throw new Error("no rule");
    const figuresOf = (on: readonly string[], guard = rule.guard) => {
      const rules = [{ ...rule, on, guard }];
      const status = { ...data.status, rules: data.status.rules.slice(0, 1) };
      return liveParts({ ...data, status, rules }, new URLSearchParams()).get("rules") ?? "";
    };
    const alone = figuresOf(["reads"]);
    expect(alone).toMatch(
      /translated<\/th><td class="number">200<\/td><td class="number">4 %<\/td><td class="number">1 %/,
    );
    expect(alone).toContain("Native v1 served 3 of 4 failed reads");
    expect(alone).toContain("Evidence for an alarm: 70 %, 3 replicas judging together");
    expect(alone).toContain("Times need 20 responses of each version");
    expect(alone).not.toContain("counted together");
    const several = figuresOf(["reads", "other"]);
    expect(several).toContain("This replica");
    expect(several).toContain("2 replicas counted together");
    expect(figuresOf(["other", "third"])).not.toContain("This replica");
    expect(figuresOf(["reads"], { ...rule.guard, action: "off" })).toContain("guard.action: off");
  });

  describe("of a brownout", () => {
    const START = Date.parse("2026-11-29T08:55:00Z");
    const window = { start: START, end: START + 600_000 };
    const next = [{ start: START + 7 * 86_400_000, end: START + 7 * 86_400_000 + 600_000 }];
    const shownOf = (brownout: Partial<BrownoutStatus>, clients: readonly ClientEntry[] = [], query = "") => {
      const data = pageData("reads", { rules: 1 });
      const usual = { phase: "running", next, zone: "Europe/Vienna" } as const;
      const rules = data.rules.map((rule) => ({ ...rule, brownout: { ...usual, ...brownout } }));
      const ledger = { ...data.ledger, clients: [...clients] };
      const parts = liveParts({ ...data, rules, ledger }, new URLSearchParams(query));
      return (parts.get("brownouts") ?? "").replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
    };

    it("shows no evidence of its rule: nothing is compared", () => {
      const data = pageData("reads", { rules: 1 });
      const partOf = (mode: "shadow" | "brownout") =>
        liveParts({ ...data, rules: data.rules.map((rule) => ({ ...rule, mode })) }, new URLSearchParams()).get(
          "rules",
        );
      expect(partOf("shadow")).toMatch(/Comparisons.*must be/s);
      expect(partOf("brownout")).not.toMatch(/Comparison|must be|Clients it takes/);
    });

    it.each([
      [{ phase: "waiting" }, "reads waiting Next windows"],
      [
        { phase: "running", window, counts: { requests: 200, refused: 50 } },
        "reads running Window now 2026-11-29 08:55 to 09:05 UTC (Sun 2026-11-29 09:55 Europe/Vienna) ends in 5 min v1 requests refused in it 50 25 % of 200 Next windows",
      ],
      [{ phase: "held", window, why: "no store" }, "reads held Why it refuses nothing: no store Window now"],
      [{ phase: "stopped", window, why: "force" }, "reads stopped Why it refuses nothing: force Window now"],
    ] as const)(
      "shows its phase and why, the window with its end, and the next ones in both zones: %j",
      (given, told) => {
        const text = shownOf(given);
        expect(text).toContain(told);
        expect(text).toContain("2026-12-06 08:55 to 09:05 UTC (Sun 2026-12-06 09:55 Europe/Vienna)");
        expect(text).toContain("No client was refused yet.");
      },
    );

    it("shows whom it refused and who came back, and the rest on further pages", () => {
      const refused = {
        rule: "b",
        start: AT - 7_200_000,
        end: AT - 6_600_000,
        requests: 3,
        first: AT - 7_000_000,
        last: AT,
      };
      const calls: readonly (readonly [string, Pick<ClientEntry, "lastV1" | "lastV2">])[] = [
        ["both", { lastV1: AT, lastV2: AT }],
        ["moved", { lastV1: AT - 7_000_000, lastV2: AT }],
        ["silent", { lastV1: AT - 7_000_000, lastV2: AT - 7_100_000 }],
      ];
      const some = calls.map(([name, last]) => ({ ...clientOf("reads", name), ...last, refused }));
      const many = Array.from({ length: 27 }, (_, at) => ({ ...clientOf("reads", `c${at}`), refused }));
      const text = shownOf({}, [...some, ...many]);
      expect(text).toContain(
        "Came back unchanged, on v1 27 Came back on v1 and v2 1 Did not come back 1 Came back on v2 1",
      );
      expect(text).toContain("reads reads b 2026-11-29 07:00Z 3 came back unchanged, on v1 v1 now");
      expect(text).toContain("Page 1 of 2");
      const rest = shownOf({}, [...some, ...many], "refused=2");
      expect(rest).toMatch(
        /both .* came back on v1 and v2 v1 now v2 now silent .* did not come back moved .* came back on v2 v2 now/,
      );
    });
  });

  it("marks events on the plot, and has every point in the table", () => {
    const progress = partOf({}, "progress", "span=days");
    expect(progress).toContain('<g class="mark-bad">');
    expect(count(progress, '<th scope="row">')).toBe(10);
  });

  it("says on a client's page which of its responses differ when translated, and no other client's", () => {
    const data = pageData("reads");
    const [entry] = data.ledger.clients;
    if (entry === undefined) throw new Error("no client");
    const [sample] = data.samples.samples;
    const pageOf = (client: string) =>
      clientPage({ entry, wayOut: "", at: AT, samples: [{ ...sample!, client }] }, assets);
    expect(pageOf(entry.name)).toMatch(
      /Responses that differ when translated.*reads reads: <code>reads<\/code>, in 1 sample/s,
    );
    expect(pageOf("another")).not.toContain("Responses that differ");
  });

  it("says on every panel that it is a demo, and where its past is made up; a real page says neither", () => {
    const demo = liveParts(pageData("reads"), new URLSearchParams());
    const badges = [...demo]
      .filter(([id]) => id !== "state")
      .map(([id, html]) => [id, />(demo[^<]*)</.exec(html)?.[1]]);
    const madeUp = "demo, its past is made up";
    expect(badges).toEqual([
      ...["headline", "progress", "rules"].map((id) => [id, madeUp]),
      ...["clients", "brownouts", "differences"].map((id) => [id, "demo"]),
      ["events", madeUp],
      ...["load", "cost", "fleet"].map((id) => [id, "demo"]),
    ]);
    const real = liveParts({ ...pageData("reads"), isMadeUp: false }, new URLSearchParams());
    expect([...real.values()].join("")).not.toMatch(/made up|>demo/);
  });

  it("survives clocks that jump: times outside of all dates, and a last call in the future", () => {
    const data = pageData("reads");
    const [client] = data.ledger.clients;
    if (client === undefined) throw new Error("no client");
    const odd = { ...client, lastV1: AT + 9e9, firstSeen: -9e15, lastSeen: Number.NaN };
    const events = [{ ...data.events[0]!, at: 9e15 }];
    const parts = liveParts({ ...data, events, ledger: { ...data.ledger, clients: [odd] } }, new URLSearchParams());
    expect(parts.get("events")).toContain("–");
  });

  it("offers to log out to whoever is logged in", () => {
    expect(shown()).not.toContain("/page/logout");
    const html = renderPage(pageData("reads"), new URLSearchParams(), { assets, formToken: "t0ken" });
    expect(html).toMatch(/<form[^>]* method="post" action="\/page\/logout">.*value="t0ken"/);
  });

  it("has no inline script, style or handler", () => {
    const html = shown({ clients: 3 });
    expect(html).not.toMatch(/\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\ssrc=)/);
  });
});
