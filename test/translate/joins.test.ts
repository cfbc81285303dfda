import { describe, expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "../../src/model/http.ts";
import type { Join, Resource, Row } from "../../src/model/resource.ts";
import { DRAIN_LIMITS, readingTools } from "../support/drains.ts";
import { ID, json, NAME, problemOf, type Run, run, thing } from "./support.ts";

const PARTS = thing({ name: "part", rows: [ID, NAME, { v1: "level", v2: "grade", kind: "int32", zero: 0 }] });
const OWNERS = thing({
  name: "owner",
  rows: [ID, NAME, { v1: "big", v2: "big", kind: "bool", zero: false }],
  v2Only: ["company"],
});

const joined = (v1: string, rows: readonly Row[]): Row => ({ v1, v2: null, kind: "message", rows, access: "output" });
const PART: Join = { v1: "part", resource: "part", by: "part.uid", take: "record", missing: "error" };
const OWNER: Join = { v1: "owner", resource: "owner", by: "owner.uid", take: "record", missing: { reduced: "owner" } };
const LABEL: Join = { v1: "label", resource: "owner", by: "owner.uid", take: { member: "label" }, missing: "zero" };

const LABEL_ROW: Row = { v1: "label", v2: null, kind: "string", access: "output" };

function links(joins: readonly Join[]): Resource {
  const rows: Row[] = [ID];
  if (joins.includes(PART)) rows.push(joined("part", []));
  if (joins.includes(OWNER)) rows.push(joined("owner", []));
  if (joins.includes(LABEL)) rows.push(LABEL_ROW);
  return thing({ name: "link", rows, v2Only: ["part", "owner"], joins });
}

const INFO = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "R", domain: "iam" };

type V2 = Readonly<Record<string, unknown>> & { readonly uid: string };
interface World {
  readonly links: readonly (readonly V2[])[];
  readonly parts?: readonly V2[];
  readonly owners?: readonly V2[];
  /** What becomes of a read of other records before it is answered. */
  readonly interfere?: (request: ApiRequest) => ApiResponse | undefined;
}

/** A platform with lists by uid, `size` a page, and pages of links. */
function platform({ links: pages, parts = [], owners = [], interfere }: World, size = 200) {
  const list = (items: string, all: readonly V2[], target: string): ApiResponse => {
    const query = new URLSearchParams(target.split("?")[1]);
    const asked = new Set(query.getAll("uidp.ids"));
    const from = Number(query.get("page_token") ?? 0);
    const matches = all.filter(({ uid }) => asked.has(uid));
    const next = from + size < matches.length ? String(from + size) : "";
    return json(200, { [items]: matches.slice(from, from + size), nextPageToken: next });
  };
  return (request: ApiRequest): ApiResponse => {
    const { target } = request;
    if (target.startsWith("/iam/v2beta1/links")) {
      if (!target.includes("?")) return json(200, pages[0]?.[0] ?? {});
      const at = Number(new URLSearchParams(target.split("?")[1]).get("page_token") ?? 0);
      return json(200, { links: pages[at] ?? [], nextPageToken: at + 1 < pages.length ? String(at + 1) : "" });
    }
    const interfered = interfere?.(request);
    if (interfered !== undefined) return interfered;
    return target.startsWith("/iam/v2beta1/parts?") ? list("parts", parts, target) : list("owners", owners, target);
  };
}

/** The owner's label, each owner by a Get of its own; `record` answers that. */
function listByGet(
  pages: readonly V2[],
  record: (target: string) => ApiResponse,
  more: Partial<Join> = {},
): Promise<Run> {
  const join = { ...LABEL, read: "get", ...more } as Join;
  const resource = thing({ name: "link", rows: [ID, LABEL_ROW], joins: [join], v2Only: ["owner"] });
  return run(resource, "list", {
    resources: [resource, OWNERS],
    answer: ({ target }) => (target.includes("/links") ? json(200, { links: pages }) : record(target)),
  });
}

function listOf(joins: readonly Join[], world: World, size?: number): Promise<Run> {
  const resource = links(joins);
  return run(resource, "list", { resources: [resource, PARTS, OWNERS], answer: platform(world, size) });
}
const items = ({ body }: Run) => (body as { items: Record<string, unknown>[] }).items;
const reads = ({ sent }: Run) => sent.filter(({ target }) => !target.startsWith("/iam/v2beta1/links"));
const idsOf = ({ target }: ApiRequest) => new URLSearchParams(target.split("?")[1]).getAll("uidp.ids");

describe("a joined record", () => {
  test("is shown in its own v1 shape", async () => {
    const result = await listOf([PART, OWNER, LABEL], {
      links: [[{ uid: "l", part: { uid: "p", name: "reduced" }, owner: { uid: "o" } }]],
      parts: [{ uid: "p", name: "whole", grade: 3 }],
      owners: [{ uid: "o", big: true, company: "hidden", label: "L" }],
    });
    expect(items(result)).toEqual([
      {
        id: "l",
        part: { id: "p", name: "whole", level: 3 },
        owner: { id: "o", big: true, name: "", label: "L" },
        label: "L",
      },
    ]);
    expect(result.exchange.notes).toEqual([]);
  });

  test("is read once, however many records and pages name it", async () => {
    const link = (uid: string) => ({ uid, part: { uid: "p" }, owner: { uid: uid < "l5" ? "o1" : "o2" } });
    const result = await listOf([PART, OWNER], {
      links: [["l1", "l2", "l3"].map(link), ["l4", "l5"].map(link), ["l6"].map(link)],
      parts: [{ uid: "p" }],
      owners: [{ uid: "o1" }, { uid: "o2" }],
    });
    expect(items(result)).toHaveLength(6);
    expect(reads(result).map(idsOf)).toEqual([["p"], ["o1"], ["o2"]]);
  });

  test("keeps every byte of what carryover has no reason to touch", async () => {
    const text = '{"links":[{"uid":"l","owner":{"uid":"o"},"n":1.50,"e":"\\u0041"}]}';
    const owner = '{"owners":[{"uid":"o","name":"\\u0042","n":12345678901234567890 }]}';
    const resource = links([OWNER]);
    const { response } = await run(resource, "list", {
      resources: [resource, OWNERS],
      answer: ({ target }) => ({
        status: 200,
        headers: [],
        body: Buffer.from(target.includes("/links") ? text : owner),
      }),
    });
    expect(Buffer.from(response.body).toString()).toBe(
      '{"items":[{"id":"l","n":1.50,"e":"\\u0041","owner":{"id":"o","name":"\\u0042","n":12345678901234567890,"big":false }}]}',
    );
  });

  test("is put into a long page a part at a time, so that other requests get their turns", async () => {
    const page = Array.from({ length: 100 }, (_, i) => ({
      uid: `l${i}`,
      part: { uid: "p" },
      text: "x".repeat(10_000),
    }));
    const resource = links([PART]);
    const input = { resources: [resource, PARTS], answer: platform({ links: [page], parts: [{ uid: "p" }] }) };
    let turns = 0;
    const inTurns = await run(resource, "list", { ...input, turn: () => turns++ });
    const atOnce = await run(resource, "list", input);
    expect(Buffer.from(inTurns.response.body).equals(atOnce.response.body)).toBe(true);
    // The page is read in slices of 128 KiB, and then searched for what its records need in as many.
    expect(turns).toBe(2 * 7);
  });

  test("counts the members in it that no row knows, each once", async () => {
    const link = (uid: string, part: string) => ({ uid, part: { uid: part } });
    const result = await listOf([PART], {
      links: [[link("l1", "p1"), link("l2", "p2")], [link("l3", "p3")]],
      parts: ["p1", "p2", "p3"].map((uid) => ({ uid, novel: 1 })),
    });
    expect(result.exchange.unknownFields).toEqual([{ direction: "response", name: "part.novel" }]);
    expect(items(result)[0]).toMatchObject({ part: { novel: 1 } });
  });
});

describe("a large record that many others share", () => {
  const LINKS = Array.from({ length: 100 }, (_, at) => ({ uid: `l${100 + at}`, part: { uid: "p" } }));
  const NAME_BYTES = 300_000;
  const PARTS_READ = [{ uid: "p", name: "x".repeat(NAME_BYTES) }];
  const listWithin = (maxBytes: number, bufferBytes: number, links: readonly V2[] = LINKS) => {
    const resource = thing({ name: "link", rows: [ID, joined("part", [])], v2Only: ["part"], joins: [PART] });
    const chunks: number[] = [];
    const result = run(resource, "list", {
      resources: [resource, PARTS],
      answer: platform({ links: [links], parts: PARTS_READ }),
      drains: (send) => {
        const tools = readingTools(send, { limits: { ...DRAIN_LIMITS, maxBytes, bufferBytes } });
        return {
          ...tools,
          longDrain: async (plan) => {
            const { show } = plan;
            return tools.longDrain({
              ...plan,
              show: async (chunk) => {
                const shown = await show!(chunk);
                if (shown.kind === "refused") return shown;
                const { parts } = shown;
                const counted = function* () {
                  for (const part of parts) {
                    chunks.push(part.length);
                    yield part;
                  }
                };
                return { ...shown, parts: counted() };
              },
            });
          },
        };
      },
    });
    return { result, chunks };
  };

  test("counts in the list as often as it is shown", async () => {
    const { result, chunks } = listWithin(10_000_000, 1_000_000);
    expect(await problemOf(result)).toMatchObject({
      reason: "DRAIN_TOO_LARGE",
      metadata: { limit: "10000000", unit: "bytes" },
      options: ["lists.maxBytes"],
    });
    // Before the first byte of it is made.
    expect(chunks).toEqual([]);
  });

  test("never fills the memory with all its copies at once", async () => {
    const { result, chunks } = listWithin(40_000_000, 1_000_000);
    expect(items(await result)).toHaveLength(LINKS.length);
    expect(Math.max(...chunks)).toBeLessThan(2 * NAME_BYTES);
  });
});

describe("a joined record that cannot be read", () => {
  const world = (parts: readonly V2[] = [], owners: readonly V2[] = []) => ({
    links: [[{ uid: "l", part: { uid: "p" }, owner: { uid: "o", name: "of the link" } }]],
    parts,
    owners,
  });

  test("fails the request where showing nothing would be a lie", async () => {
    const problem = await problemOf(listOf([PART], world()));
    expect(problem.reason).toBe("DRAIN_INCOMPLETE");
    expect(problem.message).toContain("part");
  });

  test("is shown by what the record itself holds, without inventing the rest, and counted", async () => {
    const result = await listOf([OWNER], world());
    expect(items(result)).toEqual([{ id: "l", owner: { id: "o", name: "of the link" } }]);
    expect(result.exchange.notes).toEqual(["join-missing"]);
  });

  test("is shown as its zero, and counted", async () => {
    const result = await listOf([LABEL], world());
    expect(items(result)).toEqual([{ id: "l", label: "" }]);
    expect(result.exchange.notes).toEqual(["join-missing"]);
  });

  test("is counted once for a list, however many pages name it", async () => {
    const link = (uid: string) => ({ uid, owner: { uid: "gone" } });
    for (const join of [OWNER, LABEL]) {
      const result = await listOf([join], { links: [[link("a"), link("b")], [link("c")]] });
      expect(items(result)).toHaveLength(3);
      expect(result.exchange.notes).toEqual(["join-missing"]);
      expect(reads(result)).toHaveLength(1);
    }
  });

  test.each([
    [403, 7],
    [404, 5],
  ])("because the platform refuses its list with %i is missing, not fatal", async (status, code) => {
    const error = { code, message: "", details: [INFO] };
    const result = await listOf([OWNER], { ...world(), interfere: () => json(status, error) });
    expect(items(result)).toEqual([{ id: "l", owner: { id: "o", name: "of the link" } }]);
  });

  test.each([403, 404])("because of a %i that the platform did not say makes that the answer", async (status) => {
    const result = await listOf([OWNER], {
      ...world(),
      interfere: () => json(status, { code: 12, message: "m", details: [] }),
    });
    expect(result.response.status).toBe(status);
  });

  test.each([401, 429, 500, 503])("because of %i makes that the answer", async (status) => {
    const error = { code: 14, message: "later", details: [] };
    const result = await listOf([OWNER], {
      ...world(),
      interfere: () => ({ ...json(status, error), headers: [["retry-after", "7"]] }),
    });
    expect([result.response.status, result.body]).toEqual([status, error]);
    expect(result.response.headers).toContainEqual(["retry-after", "7"]);
  });

  test("because v2 answers nonsense is v2's fault", async () => {
    for (const body of [[], { owners: [{ name: "no uid" }] }, { owners: [{ uid: 7 }] }]) {
      const problem = await problemOf(listOf([OWNER], { ...world(), interfere: () => json(200, body) }));
      expect(problem.reason).toBe("UPSTREAM_INVALID");
    }
    const twice = Buffer.from('{"owners":[{"uid":"o","name":"a","name":"b"}]}');
    const problem = await problemOf(
      listOf([OWNER], { ...world(), interfere: () => ({ status: 200, headers: [], body: twice }) }),
    );
    expect(problem.reason).toBe("UPSTREAM_INVALID");
  });

  test.each([
    {},
    { owner: null },
    { owner: {} },
    { owner: { uid: "" } },
    { owner: { uid: null } },
    { owner: "o" },
    { owner: { uid: 7 } },
  ])("because the record names none asks nothing: %j", async (rest) => {
    const result = await listOf([OWNER], { links: [[{ uid: "l", ...rest }]] });
    expect(reads(result)).toEqual([]);
    expect(items(result)).toEqual([{ id: "l", owner: null }]);
  });

  test.each(["../x", "a?b=c", "\ud800", "a b", "a/../b"])(
    "because its uid can be none asks nothing: %j",
    async (uid) => {
      const result = await listOf([LABEL], { links: [[{ uid: "l", owner: { uid } }]] });
      expect(reads(result)).toEqual([]);
      expect(items(result)).toEqual([{ id: "l", label: "" }]);
      expect(result.exchange.notes).toEqual(["join-missing"]);
    },
  );
});

describe("reads of joined records", () => {
  const many = (count: number, uid: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => ({ uid: `l${index}`, owner: { uid: uid(index) } }));

  test("come in batches of at most 200 uids", async () => {
    const uids = Array.from({ length: 450 }, (_, index) => `o${index}`);
    const result = await listOf([OWNER], {
      links: [many(450, (index) => `o${index}`)],
      owners: uids.map((uid) => ({ uid })),
    });
    expect(reads(result).map((request) => idsOf(request).length)).toEqual([200, 200, 50]);
    expect(reads(result).flatMap(idsOf)).toEqual(uids);
    expect(items(result).map((item) => (item["owner"] as { id: string }).id)).toEqual(uids);
  });

  test("keep every target short, however long uids are", async () => {
    const long = (index: number) => `${"0123456789abcdef/".repeat(6)}${index}`;
    const result = await listOf([OWNER], {
      links: [many(300, long)],
      owners: Array.from({ length: 300 }, (_, index) => ({ uid: long(index) })),
    });
    for (const { target } of reads(result)) expect(target.length).toBeLessThan(6_500);
    expect(reads(result).length).toBeGreaterThan(4);
    expect(reads(result).length).toBeLessThan(12);
    expect(items(result).every((item) => (item["owner"] as { big: boolean }).big === false)).toBe(true);
  });

  test("of many records that name few are few: N links of M owners make about M/200 reads", async () => {
    const owners = Array.from({ length: 120 }, (_, index) => ({ uid: `o${index}` }));
    const pages = Array.from({ length: 10 }, (_, page) => many(200, (index) => `o${(page * 200 + index) % 120}`));
    const result = await listOf([OWNER, LABEL], { links: pages, owners });
    expect(items(result)).toHaveLength(2_000);
    expect(reads(result)).toHaveLength(1);
  });

  test("follow v2's pages until every uid was seen", async () => {
    const uids = Array.from({ length: 7 }, (_, index) => `o${index}`);
    const result = await listOf(
      [LABEL],
      { links: [many(7, (index) => `o${index}`)], owners: uids.map((uid) => ({ uid, label: uid })) },
      3,
    );
    expect(items(result).map((item) => item["label"])).toEqual(uids);
    expect(reads(result)).toHaveLength(3);
    expect(reads(result)[1]?.target).toContain("page_token=3");
  });

  test("end, also where v2's pages never do: then nothing is taken for missing", async () => {
    let calls = 0;
    const interfere = () => {
      calls += 1;
      return json(200, { owners: [], nextPageToken: "again" });
    };
    const problem = await problemOf(listOf([LABEL], { links: [many(3, (index) => `o${index}`)], interfere }));
    expect(problem.reason).toBe("DRAIN_INCOMPLETE");
    expect(calls).toBeLessThan(10);
  });

  test("go on past empty pages with new tokens", async () => {
    let calls = 0;
    const result = await listOf([LABEL], {
      links: [many(3, (index) => `o${index}`)],
      owners: [0, 1, 2].map((index) => ({ uid: `o${index}`, label: `l${index}` })),
      interfere: () => {
        calls += 1;
        return calls <= 40 ? json(200, { owners: [], nextPageToken: "0".repeat(calls) }) : undefined;
      },
    });
    expect(calls).toBe(41);
    expect((result.body as { items: unknown[] }).items).toMatchObject([
      { label: "l0" },
      { label: "l1" },
      { label: "l2" },
    ]);
  });

  test.each([400, 404, 410])(
    "begin once more when a page after the first is %i, and never miss a record for it",
    async (status) => {
      const refusing = (times: number) => {
        let refused = 0;
        return listOf([LABEL], {
          links: [many(3, (index) => `o${index}`)],
          owners: [0, 1, 2].map((index) => ({ uid: `o${index}`, label: `l${index}` })),
          interfere: ({ target }) => {
            if (!target.includes("page_token=")) return json(200, { owners: [], nextPageToken: "0" });
            refused += 1;
            return refused <= times ? json(status, { code: 5, message: "", details: [INFO] }) : undefined;
          },
        });
      };
      expect((await refusing(1)).body).toMatchObject({ items: [{ label: "l0" }, { label: "l1" }, { label: "l2" }] });
      expect((await problemOf(refusing(99))).reason).toBe("DRAIN_INCOMPLETE");
    },
  );

  test("a count without a list is no batch", async () => {
    const interfere = () => json(200, { totalCount: "3" });
    const problem = await problemOf(listOf([LABEL], { links: [many(3, (index) => `o${index}`)], interfere }));
    expect(problem.reason).toBe("UPSTREAM_INVALID");
  });

  test("are never more than a budget for one request, which is known before the first", async () => {
    let reads = 0;
    const problem = await problemOf(
      listByGet(
        many(601, (index) => `o${index}`),
        (target) => {
          reads += 1;
          return json(200, { uid: target.split("/").at(-1), label: "x" });
        },
      ),
    );
    expect(reads).toBe(0);
    expect([problem.reason, problem.metadata]).toEqual(["DRAIN_TOO_LARGE", { limit: "600", unit: "reads" }]);
  });

  test("are bounded for each page, as explain says: a list of two pages may need more in all", async () => {
    const linksOf = (letter: string) =>
      many(356, (index) => `${letter}${index}`).map((link) => ({ ...link, uid: `${letter}${link.uid}` }));
    const join = { ...LABEL, read: "get" } as Join;
    const resource = thing({ name: "link", rows: [ID, LABEL_ROW], joins: [join], v2Only: ["owner"] });
    const pages = [linksOf("a"), linksOf("b")];
    const result = await run(resource, "list", {
      resources: [resource, OWNERS],
      answer: platform({
        links: pages,
        interfere: ({ target }) => json(200, { uid: target.split("/").at(-1), label: "x" }),
      }),
    });
    expect([items(result).length, reads(result).length]).toEqual([712, 712]);
  });

  test("DIFF-03: are never more bytes than a budget for one request", async () => {
    const label = "x".repeat(4 * 1024 * 1024);
    let reads = 0;
    const problem = await problemOf(
      listByGet(
        many(100, (index) => `o${index}`),
        (target) => {
          reads += 1;
          return json(200, { uid: target.split("/").at(-1), label });
        },
      ),
    );
    expect([problem.reason, problem.metadata]).toEqual(["DRAIN_TOO_LARGE", { limit: "67108864", unit: "bytes" }]);
    expect(reads).toBeLessThan(25);
  });

  test("of what is in no list are gets, one for each record", async () => {
    const links = [...many(3, (index) => `a/o${index % 2}`), { uid: "z", owner: { uid: "../x" } }];
    const result = await listByGet(links, (target) =>
      target.endsWith("1")
        ? json(403, { code: 7, message: "", details: [INFO] })
        : json(200, { uid: "a/o0", label: "x" }),
    );
    expect(reads(result).map(({ target }) => target)).toEqual(["/iam/v2beta1/owners/a/o0", "/iam/v2beta1/owners/a/o1"]);
    expect(items(result).map((item) => item["label"])).toEqual(["x", "", "x", ""]);
    expect(result.exchange.notes).toEqual(["join-missing", "join-missing"]);
  });

  test("take no other record for the one that was asked for", async () => {
    for (const record of [
      '{"uid":"a/o1","label":"x"}',
      '{"label":"x"}',
      '{"uid":null,"label":"x"}',
      '{"uid":"a/o0"',
      "",
    ]) {
      const answer = (): ApiResponse => ({ status: 200, headers: [], body: Buffer.from(record) });
      expect(
        (
          await problemOf(
            listByGet(
              many(1, () => "a/o0"),
              answer,
            ),
          )
        ).reason,
      ).toBe("UPSTREAM_INVALID");
    }
  });

  test("run a few at a time, and stop at the first refusal", async () => {
    let [running, most, calls] = [0, 0, 0];
    const [resource, pages] = [links([LABEL]), platform({ links: [many(200 * 30, (index) => `o${index}`)] })];
    const { response } = await run(resource, "list", {
      resources: [resource, OWNERS],
      answer: async (request) => {
        if (request.target.includes("/links")) return pages(request);
        calls += 1;
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return calls >= 6 ? json(429, { code: 8, message: "", details: [] }) : json(200, { owners: [] });
      },
    });
    expect(response.status).toBe(429);
    expect(most).toBe(4);
    expect(calls).toBeLessThan(10);
  });

  test("end as soon as every uid was seen, whatever token comes with it", async () => {
    let calls = 0;
    const interfere = () => {
      calls += 1;
      return json(200, { owners: [{ uid: "o0", label: "x" }], nextPageToken: "more" });
    };
    expect(items(await listOf([LABEL], { links: [many(1, () => "o0")], interfere }))[0]).toEqual({
      id: "l0",
      label: "x",
    });
    expect(calls).toBe(1);
  });

  test("that fail leave what the record itself holds, where the join says so, in v1's words", async () => {
    const state: Row = {
      v1: "state",
      v2: "state",
      kind: "message",
      rows: [{ v1: "userName", v2: "username", kind: "string", access: "output" }],
      access: "output",
    };
    const own: Join = {
      v1: "state",
      resource: "owner",
      by: "owner.uid",
      take: { member: "state" },
      missing: "own",
      read: "get",
    };
    const resource = thing({ name: "link", rows: [ID, state], joins: [own], v2Only: ["owner"] });
    const result = await run(resource, "list", {
      resources: [resource, OWNERS],
      answer: ({ target }) => {
        if (target.includes("/links")) {
          const state = { username: "of the link" };
          return json(200, { links: ["o", "p"].map((uid) => ({ uid: `l${uid}`, owner: { uid }, state })) });
        }
        return target.endsWith("/o")
          ? json(200, { uid: "o", state: { username: "of the owner" } })
          : json(403, { code: 7, message: "", details: [INFO] });
      },
    });
    expect(items(result)).toEqual([
      { id: "lo", state: { userName: "of the owner" } },
      { id: "lp", state: { userName: "of the link" } },
    ]);
    expect(result.exchange.notes).toEqual(["join-missing"]);
  });

  test("are spared where the record says that there is nothing to be read", async () => {
    const when: Join = { ...LABEL, when: "flag" };
    const resource = thing({ name: "link", rows: [ID, LABEL_ROW], joins: [when], v2Only: ["owner", "flag"] });
    const result = await run(resource, "list", {
      resources: [resource, OWNERS],
      answer: platform({
        links: [
          [
            { uid: "a", owner: { uid: "o" }, flag: {} },
            { uid: "b", owner: { uid: "p" } },
            { uid: "c", owner: { uid: "q" }, flag: null },
            { uid: "d", owner: { uid: "o" } },
          ],
        ],
        owners: ["o", "p", "q"].map((uid) => ({ uid, label: uid })),
      }),
    });
    expect(reads(result).map(idsOf)).toEqual([["o"]]);
    expect(items(result).map((item) => item["label"])).toEqual(["o", "", "", ""]);
    expect(result.exchange.notes).toEqual([]);
  });

  test("carry the caller's own credential", async () => {
    const resource = links([OWNER]);
    const { sent } = await run(resource, "list", {
      resources: [resource, OWNERS],
      headers: [
        ["authorization", "Bearer of-this-caller"],
        ["if-none-match", "x"],
      ],
      answer: platform({ links: [[{ uid: "l", owner: { uid: "o" } }]], owners: [{ uid: "o" }] }),
    });
    for (const { headers } of sent) {
      expect(headers).toEqual([
        ["authorization", "Bearer of-this-caller"],
        ["accept", "application/json"],
      ]);
    }
  });
});

describe("a get of one record with joins", () => {
  const get = (text: string) => {
    const resource = links([OWNER]);
    return run(resource, "get", {
      uid: "l",
      resources: [resource, OWNERS],
      answer: ({ target }) =>
        target.includes("/links")
          ? { status: 200, headers: [], body: Buffer.from(text) }
          : json(200, { owners: [{ uid: "o", name: "n" }] }),
    });
  };

  test("is that record", async () => {
    expect((await get(' {"uid":"l","owner":{"uid":"o"}} ')).body).toEqual({
      id: "l",
      owner: { id: "o", name: "n", big: false },
    });
  });

  test.each(["", " ", "[]", "1", '{"uid":"l"},{"uid":"m"}', '{"uid":"l"}]', '{"owner":{"uid":"o"}}', '{"uid":"l"'])(
    "is an error when v2 sends anything but one record: %j",
    async (text) => {
      expect((await problemOf(get(text))).reason).toBe("UPSTREAM_INVALID");
    },
  );
});

test("a join of a resource that there is not is found at the start", () => {
  const resource = links([OWNER]);
  return expect(run(resource, "list", { resources: [resource] })).rejects.toThrow("there is no resource owner");
});
