/** The kernel's memory grows where a text needs more: in any call between kernel and host. Each text here has a kernel of its own, so none has grown before. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonError } from "../../src/json/error.ts";
import { createKernel, type HostCalls, instantiate, type Kernels, sharedKernels } from "../../src/json/kernel.ts";
import type { MemberPlan, ObjectPlan, PagePlan, RewriteReport } from "../../src/json/plan.ts";
import { createPageRewriter, createValueRewriter, type PageResult } from "../../src/json/rewrite.ts";
import type { Json } from "../../src/model/json.ts";
import { variants } from "../support/tier.ts";
import { documents, expected, plans, Repeated, text, utf8, write } from "./documents.ts";

function freshKernels(instance = instantiate): Kernels {
  return { take: () => createKernel(instance), giveBack: () => undefined };
}

/** More growth of one memory would take too long. */
const MOST_GROWTH = 200;

/** Makes instances whose memory grows before and after each call of `name`, by kernel or host. `met` gets the name of each call. */
function growingAt(name: string, met: (name: string) => void): typeof instantiate {
  return (host) => {
    let left = MOST_GROWTH;
    const grow = (): void => {
      if (left-- > 0) memory.grow(1);
    };
    const wrap = (calls: object): Record<string, never> => {
      const wrapped = Object.entries(calls as HostCalls).map(([called, call]) => {
        const growing = (...words: number[]): unknown => {
          met(called);
          if (called !== name) return call(...words);
          grow();
          const result = call(...words);
          grow();
          return result;
        };
        return [called, growing];
      });
      return Object.fromEntries(wrapped) as Record<string, never>;
    };
    const { memory, ...calls } = instantiate(wrap(host));
    return { ...wrap(calls), memory } as unknown as ReturnType<typeof instantiate>;
  };
}

/** Every call there is, in either direction. */
function allCalls(): readonly string[] {
  const names: string[] = [];
  createKernel((host) => {
    const { memory, ...calls } = instantiate(host);
    names.push(...Object.keys(host), ...Object.keys(calls));
    return { ...calls, memory };
  });
  return names;
}

const list = (raw: Uint8Array): Uint8Array => Buffer.concat([Buffer.from("["), raw, Buffer.from("]")]);

const RECORD: ObjectPlan = {
  kind: "object",
  label: "thing",
  members: new Map([
    ["uid", { capture: "uid" }],
    ["name", { rename: "title" }],
    ["mode", { value: { kind: "enum", names: new Map(), numbers: new Map([[1, "MODE_SWITCHED_ON"]]) } }],
    ["made", { value: { kind: "convert", convert: list } }],
    ["inner", { value: { kind: "object", members: new Map() } }],
  ]),
  emits: ["id", "again"],
  finish: (captured, emit) => {
    emit("id", captured.get("uid") ?? "null");
    emit("again", captured.get("uid") ?? "null");
  },
  insert: [{ key: "kind", value: '"K"' }],
};
const PAGE: PagePlan = { items: "things", key: "uid", record: RECORD, scalars: ["total"], label: "page" };

function v2Record(i: number, size: number): string {
  return `{"uid":"u${i}","mode":1.0,"name":"n","made":${i},"inner":7,"more":"${"x".repeat(size)}"}`;
}

function v1Record(i: number, size: number): object {
  const id = `u${i}`;
  return {
    mode: "MODE_SWITCHED_ON",
    title: "n",
    made: [i],
    inner: 7,
    more: "x".repeat(size),
    id,
    again: id,
    kind: "K",
  };
}

function v2Page(count: number, size: number): Uint8Array {
  const records = Array.from({ length: count }, (_, i) => v2Record(i, size));
  return utf8(`{"things":[${records.join(" , ")}],"total":"${count}","x":1}`);
}

function checkPage({ bytes, keys, starts, ends, scalars, reports }: PageResult, count: number, size: number): void {
  const wanted = Array.from({ length: count }, (_, i) => v1Record(i, size));
  expect(JSON.parse(`[${text(bytes)}]`)).toEqual(wanted);
  expect(starts.map((start, i) => JSON.parse(text(bytes.subarray(start, ends[i]))))).toEqual(wanted);
  expect(keys).toEqual(Array.from({ length: count }, (_, i) => `u${i}`));
  expect([...scalars]).toEqual([["total", String(count)]]);
  expect(sorted(reports)).toEqual(
    sorted([...recordReports(count), { kind: "unknown", object: "page", member: "x", count: 1 }]),
  );
}

function recordReports(count: number): readonly RewriteReport[] {
  return [
    { kind: "unknown", object: "thing", member: "more", count },
    { kind: "shape", object: "thing", member: "inner", count },
  ];
}

const sorted = (reports: readonly RewriteReport[]): string[] => reports.map((report) => JSON.stringify(report)).sort();

/** Texts that together need every call. */
const TRIALS: readonly ((kernels: Kernels) => unknown)[] = [
  (kernels) => {
    const { bytes, reports } = createValueRewriter(RECORD, kernels)(utf8(v2Record(3, 40)));
    expect(JSON.parse(text(bytes))).toEqual(v1Record(3, 40));
    expect(sorted(reports)).toEqual(sorted(recordReports(1)));
  },
  (kernels) => checkPage(createPageRewriter(PAGE, kernels)(v2Page(20, 40)), 20, 40),
  async (kernels) =>
    checkPage(await createPageRewriter(PAGE, kernels).inSlices(v2Page(150, 2000), async () => {}), 150, 2000),
  (kernels) => {
    const { keys } = createPageRewriter(PAGE, kernels)(utf8('{"things":[{"uid":"\\u0061"},{"uid":"é"}],"total":2}'));
    expect(keys).toEqual(["a", "é"]);
  },
  (kernels) => {
    const rewrite = createValueRewriter(RECORD, kernels);
    const broken = `${v2Record(3, 40).slice(0, -1)},"last":nul}`;
    expect(() => rewrite(utf8(broken))).toThrow(`expected a value at byte ${broken.length - 1}, JSON pointer "/last"`);
  },
];

it.each(allCalls())("a text comes out whole when memory grows in the call `%s`", async (name) => {
  const met = new Set<string>();
  for (const trial of TRIALS) await trial(freshKernels(growingAt(name, (called) => met.add(called))));
  expect(met).toContain(name);
});

describe("an output larger than its input", () => {
  it("has its comma before a member that is built at the end", () => {
    const mode = { kind: "enum", names: new Map([["ON", "M".repeat(200)]]) } as const;
    const record = { ...RECORD, members: new Map([...RECORD.members, ["mode", { value: mode }]]) };
    const { bytes } = createPageRewriter(
      { ...PAGE, record },
      freshKernels(),
    )(utf8(`{"things":[${Array.from({ length: 2000 }, (_, i) => `{"uid":"u${i}","mode":"ON"}`)}]}`));
    const records = JSON.parse(`[${text(bytes)}]`) as { id: string }[];
    expect(records.map(({ id }) => id)).toEqual(Array.from({ length: 2000 }, (_, i) => `u${i}`));
  });

  it("may end in a long text, in a list", () => {
    const record: ObjectPlan = { kind: "object", members: new Map([["uid", { rename: "id".repeat(14) }]]) };
    const items = Array.from({ length: 1001 }, (_, i) =>
      i < 1000 ? { uid: `u${i}` } : { uid: "z", t: "t".repeat(40_000) },
    );
    const { bytes } = createPageRewriter({ ...PAGE, record }, freshKernels())(utf8(JSON.stringify({ things: items })));
    expect(JSON.parse(`[${text(bytes)}]`)).toEqual(
      items.map(({ uid, ...rest }) => ({ ["id".repeat(14)]: uid, ...rest })),
    );
  });

  it("may end in a long unknown member, which is counted", () => {
    const mode = { kind: "enum", names: new Map([["ON", "M".repeat(25_000)]]) } as const;
    const plan: ObjectPlan = { kind: "object", members: new Map([["mode", { value: mode }]]) };
    const more = "x".repeat(55_000);
    const { bytes, reports } = createValueRewriter(plan, freshKernels())(utf8(JSON.stringify({ mode: "ON", more })));
    expect(JSON.parse(text(bytes))).toEqual({ mode: "M".repeat(25_000), more });
    expect(reports).toEqual([{ kind: "unknown", object: "", member: "more", count: 1 }]);
  });

  /** Bytes for a text and its new form before memory grows for the first time. */
  const ROOM = 128 * 1024;

  it("is what editing the parsed document gives, wherever memory grows", () => {
    const noise = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(documents, plans, noise, fc.nat(700), (document, plan, spacing, left) => {
        const inner = write(document, spacing);
        const source = utf8(`{"large":"ON","inner":${inner}}`);
        // Leaves less room than the rest needs.
        const large = "l".repeat(ROOM - source.length - left);
        const whole = (value: typeof plan): ObjectPlan => ({
          kind: "object",
          members: new Map<string, MemberPlan>([
            ["large", { value: { kind: "enum", names: new Map([["ON", large]]) } }],
            ["inner", { value }],
          ]),
        });
        const rewrite = createValueRewriter(whole(plan), freshKernels());
        let want: ReturnType<typeof expected>;
        try {
          want = expected({ large: "ON", inner: document }, whole(plan));
        } catch (error) {
          expect(error).toBeInstanceOf(Repeated);
          expect(() => rewrite(source)).toThrow(JsonError);
          return;
        }
        const { bytes, reports } = rewrite(source);
        const got = JSON.parse(text(bytes)) as Record<string, Json>;
        expect(got["large"] === large).toBe(true);
        expect(JSON.stringify(got["inner"])).toBe(JSON.stringify((want.value as typeof got)["inner"]));
        expect(sorted(reports)).toEqual(sorted(want.reports));
      }),
      { numRuns: variants(400, 4_000) },
    );
  });
});

describe("what comes out of the kernel's memory", () => {
  it("stays as it was when other bytes take its place, and when memory grows", () => {
    const { kernel, grow } = growingKernel();
    kernel.memory.set(1000, Buffer.from('"text"'));
    const copies = [kernel.memory.copy(1000, 1006), kernel.memory.words(1000, 1)];
    kernel.memory.clear(1000, 1006);
    grow(1);
    const kept = copies.map(({ buffer, byteOffset, byteLength }) =>
      text(new Uint8Array(buffer, byteOffset, byteLength)),
    );
    expect(kept).toEqual(['"text"', '"tex']);
  });

  it("is a copy for conversions, for those that build members, and for clients", () => {
    const kernel = createKernel();
    const kept: Uint8Array[] = [];
    const convert = (raw: Uint8Array): Uint8Array => {
      kept.push(raw);
      return raw;
    };
    const plan: ObjectPlan = {
      kind: "object",
      members: new Map<string, MemberPlan>([
        ["a", { capture: "a" }],
        ["b", { value: { kind: "convert", convert } }],
      ]),
      finish: (captured) => kept.push(...captured.values()),
    };
    const rewrite = createValueRewriter(plan, { take: () => kernel, giveBack: () => undefined });
    kept.push(rewrite(utf8('{"b":"one","a":"two"}')).bytes);
    rewrite(utf8("          {}                      "));
    expect(kept.map(text)).toEqual(['"one"', '"two"', '{"b":"one"}']);
  });
});

it("a kernel that has grown beyond 4 MiB is not kept, whenever it grew", () => {
  const { kernel, grow } = growingKernel();
  grow(64);
  sharedKernels.giveBack(kernel);
  expect(sharedKernels.take() === kernel).toBe(false);
});

/** `grow` takes pages of 64 KiB. */
function growingKernel(): { kernel: ReturnType<typeof createKernel>; grow: (pages: number) => number } {
  let grow: (pages: number) => number = () => 0;
  const kernel = createKernel((host) => {
    const instance = instantiate(host);
    grow = (pages) => instance.memory.grow(pages);
    return instance;
  });
  return { kernel, grow: (pages) => grow(pages) };
}
