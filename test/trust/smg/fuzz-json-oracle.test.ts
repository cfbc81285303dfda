import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { JsonError } from "../../../src/json/error.ts";
import { createPageRewriter, createValueRewriter, rewriteValue } from "../../../src/json/rewrite.ts";
import { type JsonNode, parseTree, rawOf } from "../../../src/json/tree.ts";
import type { Json } from "../../../src/model/json.ts";
import { responsePlan } from "../../../src/translate/response-plan.ts";
import { recordOf } from "../../fuzz/platform.ts";
import { documents, text, utf8, write } from "../../json/documents.ts";
import { written } from "../../property/records.ts";
import { figure } from "../../support/figures.ts";
import { PIECES } from "../../support/hostile/json.ts";
import { scale } from "../../support/scale.ts";

const RUNS = { numRuns: scale(1_000, 100_000) };
const { resources } = await loadCatalogue("v2beta1");
const noise = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 });

/** Single bytes, and what lenient parsers take. */
const added = fc.oneof(
  fc.nat(255).map((byte) => Buffer.from([byte])),
  fc.constantFrom(...'{}[],:"\\/0123456789.-+eEtrufalsn \t\r\n\0\x1f').map((sign) => Buffer.from(sign)),
  fc.constantFrom(0x80, 0xbf, 0xc0, 0xc3, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xff).map((byte) => Buffer.from([byte])),
  fc.constantFrom(...PIECES).map((piece) => Buffer.from(piece, "latin1")),
  // Twice in most records, which JSON.parse takes.
  fc.constant(Buffer.from('"uid":"x",')),
);
const edits = fc.array(
  fc.record({
    at: fc.nat(),
    added: fc.option(added, { nil: Buffer.alloc(0) }),
    removed: fc.nat(3),
    value: fc.boolean(),
  }),
  { maxLength: 3 },
);
type Edit = typeof edits extends fc.Arbitrary<(infer T)[]> ? T : never;

/** `value`: where a value or a name may begin, so that what is added is not part of a text. */
function edited(bytes: Uint8Array, changes: readonly Edit[]): Buffer {
  let now = Buffer.from(bytes);
  for (const { at, added: more, removed, value } of changes) {
    const places = value ? [...now.toString("latin1").matchAll(/[[{,:]/g)].map(({ index }) => index + 1) : [];
    const from = places[at % places.length] ?? at % (now.length + 1);
    now = Buffer.concat([now.subarray(0, from), more, now.subarray(value ? from : from + removed)]);
  }
  return now;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What `JSON.parse` makes of the bytes; undefined when it, or the decoder before it, refuses. */
function parsed(bytes: Uint8Array): { readonly value: Json } | undefined {
  try {
    return { value: JSON.parse(strict.decode(bytes)) as Json };
  } catch {
    return undefined;
  }
}

function reasonFor(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof JsonError) return error.reason;
    throw error;
  }
}

const childrenOf = (node: JsonNode): readonly JsonNode[] =>
  node.kind === "object" ? node.members.map(({ value }) => value) : node.kind === "array" ? node.items : [];

function meaning(node: JsonNode): Json {
  if (node.kind === "array") return node.items.map(meaning);
  if (node.kind === "object") return Object.fromEntries(node.members.map(({ key, value }) => [key, meaning(value)]));
  return node.kind === "string" ? node.value : (JSON.parse(text(rawOf(node))) as Json);
}

describe("any bytes", () => {
  it("T-SMG-31: are taken and refused as JSON.parse does, with the same values", () => {
    const counted = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(documents, noise, edits, (document, spacing, changes) => {
        const bytes = edited(utf8(write(document, spacing)), changes);
        const want = parsed(bytes);
        counted[want === undefined ? "refused" : "taken"]++;
        for (const plan of ["copy", { kind: "map", values: { kind: "array", items: "copy" } }] as const) {
          const reason = reasonFor(() => rewriteValue(bytes, plan));
          expect([plan, reason === undefined, reason]).toEqual([plan, want !== undefined, reason]);
        }
        const reason = reasonFor(() => parseTree(bytes, { surrogates: "pass" }));
        expect(reason === undefined).toBe(want !== undefined);
        if (want === undefined) return;
        expect(rewriteValue(bytes, "copy").bytes).toBe(bytes);
        const node = parseTree(bytes, { surrogates: "pass" });
        expect(JSON.stringify(meaning(node))).toBe(JSON.stringify(want.value));
        expect(text(rawOf(node))).toBe(text(bytes).trim());
        for (const child of childrenOf(node))
          expect(parseTree(rawOf(child), { surrogates: "pass" })).toMatchObject({ kind: child.kind, start: 0 });
      }),
      RUNS,
    );
    figure("T-SMG-31", "JSON texts read as JSON.parse reads them", counted.taken + counted.refused, "texts");
    expect([counted.taken > RUNS.numRuns / 10, counted.refused > RUNS.numRuns / 10]).toEqual([true, true]);
  });
});

/** Why an answer is refused that JSON.parse takes: each is a rule of the rewriter, or of a page. */
const ON_PURPOSE = new Set([
  "repeated member",
  "nested too deeply",
  "expected an object",
  "expected an array of records",
  "expected an object as record",
  "record without its key",
  "expected a string as the record's key",
  "no member with the records",
]);

describe("answers of every resource, some bytes changed", () => {
  const shapes = resources.map((resource) => {
    const { shape } = written(resource);
    const plan = responsePlan(shape, { unknownResponse: "pass", insertZeros: true });
    const record = { ...recordOf(shape.rows), uid: "a/b" };
    return {
      one: createValueRewriter(plan),
      page: createPageRewriter({ items: resource.items, key: "uid", record: plan, scalars: ["nextPageToken"] }),
      record: utf8(JSON.stringify(record)),
      list: utf8(JSON.stringify({ [resource.items]: [record, { ...record, uid: "c" }], nextPageToken: "t" })),
    };
  });

  it("T-SMG-31: are refused where JSON.parse refuses, and come out as JSON where it does not", () => {
    const counted = { taken: 0, refused: 0, onPurpose: 0 };
    const judge = (bytes: Buffer, read: (bytes: Buffer) => Uint8Array): void => {
      let out: Uint8Array = bytes;
      const reason = reasonFor(() => {
        out = read(bytes);
      });
      if (parsed(bytes) === undefined) {
        counted.refused++;
        expect([text8(bytes), reason]).not.toEqual([text8(bytes), undefined]);
      } else if (reason === undefined) {
        counted.taken++;
        expect([text8(bytes), parsed(out) !== undefined]).toEqual([text8(bytes), true]);
      } else {
        counted.onPurpose++;
        expect([...ON_PURPOSE]).toContain(reason);
      }
    };
    fc.assert(
      fc.property(fc.constantFrom(...shapes), edits, fc.boolean(), ({ one, page, record, list }, changes, isList) => {
        if (isList)
          judge(edited(list, changes), (bytes) =>
            Buffer.concat([Buffer.from("["), page(bytes).bytes, Buffer.from("]")]),
          );
        else judge(edited(record, changes), (bytes) => one(bytes).bytes);
      }),
      RUNS,
    );
    figure("T-SMG-31", "answers with changed bytes rewritten or refused", RUNS.numRuns, "answers");
    expect(Object.values(counted).every((count) => count > 0)).toBe(true);
  });
});

const text8 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");
