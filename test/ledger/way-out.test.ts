import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { type Catalogue, loadCatalogue, untranslatedOf } from "../../src/catalogue/catalogue.ts";
import type { ClientEntry, ClientNeeds } from "../../src/ledger/entry.ts";
import { createOperationTraits } from "../../src/ledger/ledger.ts";
import { CODE_LOOP, wayOut, wayOutOptions } from "../../src/ledger/way-out.ts";
import { NO_NEEDS } from "./samples.ts";

const SEEN = Date.UTC(2026, 10, 21, 14, 5);
const known = { catalogue: undefined as Catalogue | undefined };
beforeAll(async () => {
  known.catalogue = await loadCatalogue("v2beta1");
});
const catalogue = (): Catalogue => known.catalogue!;

function client(
  name: string,
  calls: readonly string[],
  needs: Partial<ClientNeeds> = {},
  given: Partial<ClientEntry> = {},
): ClientEntry {
  const operations = calls.map((call, index) => {
    const [resource = "", operation = ""] = call.split(" ");
    return { resource, operation, requests: 10 - index, lastSeen: SEEN };
  });
  const v1 = operations.reduce((sum, { requests }) => sum + requests, 0);
  return {
    name,
    label: name,
    firstSeen: SEEN,
    lastSeen: SEEN,
    lastV1: SEEN,
    requests: { v1, v2: 0 },
    over: 0,
    operations,
    needs: { ...NO_NEEDS, ...needs },
    ...given,
  };
}
const told = (entry: ClientEntry): string => wayOut(entry, wayOutOptions(catalogue(), "all"));
/** Without the loops, which the first client's show. */
const withoutLoops = (text: string) => text.replace(/```(?:sh\n# list_all|js\n)[\s\S]*?\n```/g, "(a loop)");

describe("three clients", () => {
  test("one that reads and replaces groups", async () => {
    const entry = client("ci-bot", ["group list", "group update"], {
      longLists: [{ resource: "group", records: 4021 }],
      zeroedFields: [{ resource: "group", field: "description" }],
      unknownFields: [{ resource: "group", field: "colour" }],
    });
    await expect(told(entry)).toMatchFileSnapshot("way-out/ci-bot.md");
  });

  test("one that binds roles to identities", async () => {
    const entry = client("h-0123456789abcdef", [
      "role-binding create",
      "role-binding create-batch",
      "identity get",
      "identity update-metadata",
      "role list",
    ]);
    await expect(withoutLoops(told(entry))).toMatchFileSnapshot("way-out/bindings.md");
  });

  test("one that needs what v2 lacks", async () => {
    const entry = client(
      "scanner",
      ["repo get-sbom", "tag list", "tag summarise", "tag update", "chart find", "other other"],
      {
        lacking: [
          { resource: "repo", operation: "get-sbom" },
          { resource: "chart", operation: "find" },
        ],
      },
      { over: 3 },
    );
    await expect(withoutLoops(told(entry))).toMatchFileSnapshot("way-out/scanner.md");
  });
});

test("a client of paths that carryover does not know is told so, and where to find them", () => {
  const lacking = [{ resource: "unknown", operation: "unknown" }];
  for (const needs of [{}, { lacking }]) {
    const text = told(client("stray", ["unknown unknown"], needs));
    expect(text).toContain("- calls paths that carryover does not know\n");
    expect(text).toContain("| paths that carryover does not know | – |");
    expect(text).toContain("## What carryover does not know");
    expect(text).toContain('`"resource":"unknown"`');
    expect(text).not.toContain("`unknown unknown`");
    expect(text).not.toContain("What v2 lacks");
    expect(text).not.toContain("renames only");
  }
});

describe("whatever a client calls", () => {
  const all = () =>
    catalogue().resources.flatMap(({ name, operations }) => operations.map((one) => [name, one] as const));

  test("every operation of the catalogue has its v1 call, and its v2 call or a word that v2 lacks it", () => {
    for (const [resource, operation] of all()) {
      const text = told(client("c", [`${resource} ${operation.name}`]));
      const row = text.split("\n").find((line) => line.startsWith("| `") && line.includes("2026-11-21 14:05Z"));
      expect(row).toMatch(/^\| `(?:GET|POST|PUT|PATCH|DELETE) \/\w+\/v1\//);
      const lacks = operation.kind === "native";
      expect(row?.includes("| – |")).toBe(lacks);
      expect(text.includes("## What v2 lacks")).toBe(lacks);
      if (!lacks)
        expect(row).toMatch(
          /`(?:GET|POST|PATCH|DELETE) \/\w+\/v2beta1\/|the list of|list by name|`GET` (?:and `PATCH` )?of/,
        );
      expect(text).not.toMatch(/undefined|\[object|NaN|=\*/);
    }
  });

  test("the names that it is told are those of the catalogue's rows", () => {
    for (const resource of catalogue().resources) {
      for (const operation of resource.operations) {
        if (!("answer" in operation) || (operation.kind === "composite" && operation.by === "summarise")) continue;
        const text = told(client("c", [`${resource.name} ${operation.name}`]));
        const joined = new Set(("joins" in operation ? (operation.joins ?? []) : []).map(({ v1 }) => v1));
        for (const row of operation.answer.rows) {
          const line = `| \`${row.v1}\` | `;
          const renamed = row.v2 !== null && row.from === undefined && !joined.has(row.v1) && row.v1 !== row.v2;
          if (renamed) expect(text).toContain(`${line}\`${row.v2}\` |`);
          if (row.v1 === row.v2 && row.from === undefined && row.access === "output")
            expect(text).not.toContain(`${line}\`${row.v2}\` | answers`);
        }
      }
    }
  });

  test("nothing that a client sent can be read as Markdown, and nothing breaks", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.constantFrom("a|b", "`x`", "``", "# head", "<script>", "[a](b)", "a\nb", "a · [a](b)"),
    );
    const pair = fc.record({
      resource: fc.oneof(fc.constantFrom("group", "role", "repo"), text),
      operation: fc.oneof(fc.constantFrom("list", "update", "get"), text),
    });
    const field = fc.record({ resource: fc.constantFrom("group", "role"), field: text });
    const needs = fc.record({
      zeroedFields: fc.array(field, { maxLength: 3 }),
      lacking: fc.array(pair, { maxLength: 3 }),
      unknownFields: fc.array(field, { maxLength: 3 }),
      unseen: fc.array(pair, { maxLength: 3 }),
      longLists: fc.constant([]),
    });
    fc.assert(
      fc.property(text, fc.array(pair, { maxLength: 3 }), needs, (name, operations, found) => {
        const entry = {
          ...client(name, []),
          operations: operations.map((one) => ({ ...one, requests: 1, lastSeen: SEEN })),
          needs: found,
        };
        const markdown = told(entry);
        // Code spans and blocks taken away, nothing of a stranger's is left.
        const bare = markdown.replace(/```[\s\S]*?\n```/g, "").replace(/`[^`\n]*`/g, "");
        expect(bare).not.toMatch(/<script>|\[a\]\(b\)|^# head/m);
        expect(markdown.startsWith("# Way out of v1 for `")).toBe(true);
        expect(markdown.replaceAll("\n", "")).not.toMatch(/\p{C}/u);
      }),
    );
  });

  test("a client that never called v1 has nothing to change", () => {
    expect(told(client("c", [], {}, { lastV1: undefined }))).toBe(
      "# Way out of v1 for `c`\n\n0 v1 requests and 0 v2 requests. It has not called v1.\n\nHardest need: none. All of them, hardest first:\n\n- does not call v1\n",
    );
  });
});

describe("the loop that it is given", () => {
  /** Runs the shown code against pages by token; what a page is may change from one asking to the next. */
  async function run(
    pages: (token: string, asked: number) => { status?: number; groups?: string[]; next?: string },
  ): Promise<string[]> {
    const asked: string[] = [];
    const fetch = async (target: string) => {
      const query = new URL(target).searchParams;
      expect(query.get("page_size")).toBe("200");
      expect(query.get("name")).toBe("a&b");
      const token = query.get("page_token") ?? "";
      asked.push(token);
      if (asked.length > 50) throw new Error("it does not end");
      const { status = 200, groups, next } = pages(token, asked.length);
      const body = {
        ...(groups && { groups: groups.map((uid) => ({ uid })) }),
        ...(next !== undefined && { nextPageToken: next }),
      };
      return new Response(JSON.stringify(body), { status });
    };
    const listAll = new Function("fetch", "API", "headers", `${CODE_LOOP}; return listAll;`)(
      fetch,
      "http://api.example.com",
      {},
    ) as (path: string, member: string, filters: object) => Promise<{ uid: string }[]>;
    return (await listAll("/iam/v2beta1/groups", "groups", { name: "a&b" })).map(({ uid }) => uid);
  }

  test("follows tokens until there is none, and takes a record once", async () => {
    const pages = new Map([
      ["", { groups: ["a", "b"], next: "1 2&" }],
      ["1 2&", { groups: ["b", "c"], next: "t" }],
      ["t", { groups: ["d"], next: "" }],
    ]);
    expect(await run((token) => pages.get(token)!)).toEqual(["a", "b", "c", "d"]);
    expect(await run(() => ({}))).toEqual([]);
  });

  test("starts over when a token has expired, whether the platform says so or begins again", async () => {
    const list = (token: string) => (token === "" ? { groups: ["a"], next: "t" } : { groups: ["b"] });
    expect(await run((token, asked) => (asked === 2 ? { status: 400 } : list(token)))).toEqual(["a", "b"]);
    expect(await run((token, asked) => (asked === 2 ? { groups: ["a"], next: "t" } : list(token)))).toEqual(["a", "b"]);
  });

  test("fails rather than give a part", async () => {
    await expect(run(() => ({ groups: ["a"], next: "t" }))).rejects.toThrow("no whole list");
    await expect(
      run((_token, asked) => (asked === 2 ? { status: 503 } : { groups: ["a"], next: "t" })),
    ).rejects.toThrow("503");
    await expect(run(() => ({ status: 400 }))).rejects.toThrow("400");
  });
});

describe("traits of operations", () => {
  test("what v2 lacks, and whose bodies and lists tell how hard a client is to move", () => {
    const { isLackingInV2, revealsNeeds } = createOperationTraits(catalogue().resources, untranslatedOf(catalogue()));
    expect(isLackingInV2("group", "list")).toBe(false);
    expect(isLackingInV2("repo", "get-sbom")).toBe(true);
    expect(isLackingInV2("chart", "find")).toBe(true);
    // v2 has it, and carryover does not translate it.
    expect(isLackingInV2("subscription", "list")).toBe(false);
    expect(isLackingInV2("unknown", "unknown")).toBe(true);
    // A path of v2 alone.
    expect(isLackingInV2("repo", "get-readme")).toBe(false);
    expect(revealsNeeds("group", "list")).toBe(true);
    expect(revealsNeeds("group", "update")).toBe(true);
    expect(revealsNeeds("identity", "update-metadata")).toBe(true);
    expect(revealsNeeds("group", "get")).toBe(false);
    // v1 paged it itself.
    expect(revealsNeeds("advisory", "list")).toBe(false);
    expect(revealsNeeds("chart", "find")).toBe(false);
  });
});
