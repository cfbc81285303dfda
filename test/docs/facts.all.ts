import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import { configOptions } from "../../src/config/config.ts";
import { PROBLEMS } from "../../src/model/problem.ts";
import type { Row } from "../../src/model/resource.ts";
import { rigForTest, takeDownAfterEach } from "../end-to-end/app/rig.ts";

takeDownAfterEach();

const ROOT = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");
const { resources } = await loadCatalogue("v2beta1");
/** What an option can be. */
const values = (path: string): readonly string[] =>
  configOptions()
    .find((option) => option.path === path)
    ?.form.split("|") ?? [];

describe("docs/comparison.md", () => {
  const page = read("docs/comparison.md");

  it("names a source for what it says of each program, except for what was measured and for nobody's program", () => {
    const table = page.split("## Side by side")[1]?.split("\n## ")[0] ?? "";
    const rows = [...table.matchAll(/^\| \*\*([^*]+)\*\* \| ([^|]*) \| ([^|]*) \|$/gm)];
    expect(rows.map(([, name]) => name)).toEqual(
      expect.arrayContaining(["Kong", "KrakenD", "Apache APISIX", "Envoy", "grpc-gateway", "Tyk", "Zuplo", "Cadwyn"]),
    );
    const without = rows.filter(([, , better = "", lacks = ""]) => !/\]\(https:\/\//.test(`${better}${lacks}`));
    expect(without.map(([, name]) => name)).toEqual(["nginx + Lua", "a shim of your own"]);
    expect(rows.every(([, , better = ""]) => better.length > 20)).toBe(true);
  });

  it("is dated", () => {
    expect(page).toMatch(/^As of \*\*\d{4}-\d\d-\d\d\*\*/m);
  });
});

describe("docs/concepts.md", () => {
  const page = read("docs/concepts.md");
  const row = (word: string) => page.split("\n").find((line) => line.startsWith(`| ${word} |`)) ?? "";

  it("names the resources of the catalogue, and no other", () => {
    const [, cell = ""] = /a kind of record: ([^|]*) \|/.exec(row("resource")) ?? [];
    const named = cell.split(",").map((name) => name.trim());
    expect(named.toSorted()).toEqual(resources.map(({ name }) => name.replaceAll("-", " ")).toSorted());
  });

  it("explains each mode, each witness and each kind of token that an option can say", () => {
    expect(values("cutover.mode")).toHaveLength(3);
    for (const mode of values("cutover.mode")) expect(row("mode")).toContain(`\`${mode}\``);
    for (const witness of ["none", "count", "cover"]) {
      expect(values("lists.require").some((value) => value.startsWith(witness))).toBe(true);
      expect(row(`– \`${witness}\``)).not.toBe("");
    }
    for (const kind of values("upstream.v2.pageTokens").filter((value) => value !== "unknown")) {
      expect(row("keyset, offset")).toContain(kind);
    }
    for (const way of values("fallback")) expect(row("fallback")).toContain(`\`${way}\``);
  });
});

describe("README.md", () => {
  it("is short: at most 900 words", () => {
    expect(
      read("README.md")
        .split(/\s+/)
        .filter((word) => word !== "").length,
    ).toBeLessThanOrEqual(900);
  });

  it("shows three figures of speed with their commit, and one of them is a loss", () => {
    const [, speed = ""] = /<!-- speed -->([\s\S]*?)<!-- end -->/.exec(read("README.md")) ?? [];
    expect(speed).toMatch(/\d{4}-\d\d-\d\d, commit [0-9a-f]{7}/);
    const ratios = speed
      .split("\n")
      .flatMap((line) => /^\|.*?\| ([\d.]+) \(/.exec(line)?.[1] ?? [])
      .map(Number);
    expect([ratios.length, ratios.some((ratio) => ratio < 1)]).toEqual([3, true]);
  });
});

describe("CONTRIBUTING.md", () => {
  const page = read("CONTRIBUTING.md");
  /** Parts of `npm run check`, or called by others. */
  const OWN: ReadonlySet<string> = new Set(["prepare", "build", "lint", "types"]);

  it("says what each npm script is for, or the README does", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const told = (name: string) => new RegExp(`npm (?:run )?${name}(?![\\w:-])`).test(`${page}\n${read("README.md")}`);
    expect(Object.keys(scripts).filter((name) => !OWN.has(name) && !told(name))).toEqual([]);
  });
});

describe("docs/operations.md", () => {
  it("names every path of the admin port", async () => {
    const { adminUrl } = await rigForTest();
    const { message } = (await (await fetch(`${adminUrl}/nothing`)).json()) as { message: string };
    const there = [...message.matchAll(/\/[a-z.-]+/g)].map(([path]) => path);
    const page = read("docs/operations.md");
    expect(there.length).toBeGreaterThan(8);
    expect(there.filter((path) => !new RegExp(`\`${path.replace(".", "\\.")}[?\`]`).test(page))).toEqual([]);
  });
});

describe("docs/troubleshooting.md", () => {
  const page = read("docs/troubleshooting.md");
  /** These need no entry: the client sees at once what it did, and nothing else can be the cause. */
  const PLAIN: readonly string[] = ["UPGRADE_REFUSED", "INVALID_REQUEST", "ALREADY_EXISTS"];

  /** `CarryoverReloadFailed` as a heading: `Carryover reload failed`. */
  function heading(alert: string): string {
    const words = alert.replace(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();
    return words.replace(/^c/, "C");
  }

  it("has a section for each alert, in their order, and for no other", () => {
    const { groups } = parse(read("helm/files/rules/carryover.yaml")) as {
      groups: readonly { rules: readonly { alert?: string }[] }[];
    };
    // One with two severities has one section.
    const alerts = [...new Set(groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? [])))];
    const sections = [...(page.split("\n## Alerts\n")[1] ?? "").matchAll(/^### (.*)$/gm)].map(([, title]) => title);
    expect(alerts.length).toBeGreaterThan(20);
    expect(sections).toEqual(alerts.map(heading));
  });

  it("names every error that can have more than one cause, by its reason or its status", () => {
    const missing = Object.entries(PROBLEMS).filter(
      ([reason, { http }]) => !page.includes(`\`${reason}\``) && !new RegExp(`^\\| [^|]*\\b${http}\\b`, "m").test(page),
    );
    expect(missing.map(([reason]) => reason).filter((reason) => !PLAIN.includes(reason))).toEqual([]);
  });
});

describe("docs/updates.md", () => {
  const page = read("docs/updates.md");

  /** Rows that not every mask names, as the page says it; dotted v1 names. */
  function special(resource: string, rows: readonly Row[], before = ""): readonly string[] {
    return rows.flatMap((row) => {
      if (row.access === "output" || row.v2 === null || (row.mask ?? "always") === "always") return [];
      const inner = row.kind === "message" && row.mask === "members" ? special(resource, row.rows, `${row.v1}.`) : [];
      return [`${resource} ${before}${row.v1}: ${words(row)}`, ...inner];
    });
  }

  function words(row: Extract<Row, { zero: unknown }>): string {
    switch (row.mask) {
      case "when-present":
        return row.presence === "explicit" ? "when it is sent" : "when it is sent, and not empty";
      case "when-changed":
        return "when it is sent, and differs from what is stored";
      case "unless-synced":
        return "when it differs from what is stored; left out of a synced record it stays";
      case "members":
        return row.syncs === true
          ? "member by member, when it is sent; removed when it is left out"
          : "member by member, when it is sent";
      default:
        return "never";
    }
  }

  it("has the catalogue's fields that are not simply replaced, and how each is", () => {
    const there = resources.flatMap(({ name, operations }) =>
      operations.flatMap((each) => (each.kind === "update" ? special(name, each.body.rows) : [])),
    );
    const table = /<!-- masks -->([\s\S]*?)<!-- end -->/.exec(page)?.[1] ?? "";
    const said = [...table.matchAll(/^\| ([a-z-]+) \| (`[^|]*) \| ([^|]*) \|/gm)].flatMap(
      ([, resource, fields = "", how]) =>
        [...fields.matchAll(/`([^`]+)`/g)].map(([, field]) => `${resource} ${field}: ${how}`),
    );
    expect(there.length).toBeGreaterThan(20);
    expect(said.toSorted()).toEqual(there.toSorted());
  });

  it("has every value of updates.mismatch and unknownFields.request", () => {
    for (const path of ["updates.mismatch", "unknownFields.request"]) {
      expect(values(path)).toHaveLength(3);
      for (const word of [path, ...values(path)]) expect(page).toContain(`\`${word}\``);
    }
  });
});
