/** Is every file of the public JSON conformance suites read as RFC 8259 says, as a client's body and as an upstream's answer? */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { JsonError } from "../../../src/json/error.ts";
import { rewriteValue } from "../../../src/json/rewrite.ts";
import type { ScanOptions } from "../../../src/json/scan.ts";
import { parseTree, rawOf } from "../../../src/json/tree.ts";
import { type Rig, reasonOf, rig } from "../../app/rig.ts";
import { type Fate, type SuiteFile, suiteFiles } from "../../json/conformance/suites.ts";
import { createDouble, type Double, ok } from "../../listener/support/double.ts";
import { figure } from "../../support/figures.ts";

const files = await suiteFiles();
const UID = "abc/def";
const GROUP = `/iam/v1/groups/${UID}`;

/** `file` as the member `x` of an object, which makes a record of it. */
const within = ({ bytes }: SuiteFile, before = "{"): Buffer =>
  Buffer.concat([Buffer.from(`${before}"x":`), bytes, Buffer.from("}")]);
const text = (bytes: Uint8Array): string => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
/** Everything that two readings of one JSON text can differ in, but for how it is written. */
const meaning = (bytes: Uint8Array): string => JSON.stringify(JSON.parse(text(bytes)));

function isRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(JsonError);
    return false;
  }
}

const readers = (bytes: Uint8Array, options: ScanOptions): readonly (() => unknown)[] => [
  () => rewriteValue(bytes, "copy", options),
  () => rewriteValue(bytes, { kind: "array", items: { kind: "map", values: "copy" } }, options),
  () => rewriteValue(bytes, { kind: "map", values: { kind: "array", items: "copy" } }, options),
  () => parseTree(bytes, options),
];

/** What `JSON.parse` takes, less what carryover refuses on purpose. */
const isTaken = (fate: Fate, from: "client" | "platform"): boolean =>
  fate === "valid" || (fate === "lone surrogate" && from === "platform");

describe("the readers of JSON", () => {
  it("T-SMG-31: the suites are all there", () => {
    const count = (suite: string) => files.filter((file) => file.suite === suite).length;
    expect(["JSONTestSuite", "JSONTestSuite transform", "JSON_checker"].map(count)).toEqual([318, 22, 35]);
  });

  it.each(files)("T-SMG-31: $suite: $name is $fate", ({ bytes, fate }) => {
    for (const [surrogates, from] of [
      ["refuse", "client"],
      ["pass", "platform"],
    ] as const) {
      const taken = readers(bytes, { surrogates }).map(isRead);
      expect([from, ...taken]).toEqual([from, ...taken.map(() => isTaken(fate, from))]);
    }
    if (fate === "invalid" || fate === "too deep") return;
    expect(text(rawOf(parseTree(bytes, { surrogates: "pass" })))).toBe(text(bytes).trim());
    expect(rewriteValue(bytes, "copy").bytes).toBe(bytes);
    // `JSON.parse` agrees with the suite.
    expect(() => JSON.parse(text(bytes))).not.toThrow();
  });

  it("T-SMG-31: only depth is refused that JSON.parse takes, and that above 100", () => {
    const nested = (depth: number) => Buffer.from("[".repeat(depth) + "]".repeat(depth));
    expect(readers(nested(100), {}).map(isRead)).toEqual([true, true, true, true]);
    expect(readers(nested(101), {}).map(isRead)).toEqual([false, false, false, false]);
    const deep = files.filter(({ fate }) => fate === "too deep").map(({ name }) => name);
    expect(deep).toEqual(["i_structure_500_nested_arrays.json"]);
  });
});

describe("through the whole of carryover", () => {
  let double: Double;
  let here: Rig;
  let answer = "";
  beforeAll(async () => {
    double = await createDouble((request, socket) => {
      // What a PATCH stores is what was sent.
      const stored = request.body.length > 0 ? request.body.toString("latin1").replace(/^\{/, `{"uid":"${UID}",`) : "";
      const body = stored === "" ? answer : stored.replace(/,\}$/, "}");
      socket.write(`${ok(body).replace(/Content-Length: \d+/, `Content-Length: ${body.length}`)}`, "latin1");
    });
    here = await rig({ v2Url: double.url, native: false, flags: { unknownFieldsRequest: "pass" } });
  });
  afterAll(async () => {
    await here.close();
    await double.close();
  });

  it.each(files)("T-SMG-31: as a client's body, $suite: $name is $fate", async (file) => {
    const before = double.requests.length;
    const alone = await here.ask("PUT", GROUP, { body: file.bytes });
    const blank = text8(file.bytes).trim() === "";
    const empty = file.fate === "valid" && /^\s*\{\s*\}\s*$/.test(text8(file.bytes));
    // No record, or no JSON: but for an empty body, which v1 took for an empty record.
    if (!blank && !empty && !text8(file.bytes).trim().startsWith("{")) {
      expect([alone.status, reasonOf(alone)]).toEqual([400, "INVALID_BODY"]);
      expect(double.requests.length).toBe(before);
    }
    expect(alone.status).toBeLessThan(500);
    const sent = double.requests.length;
    const body = within(file);
    const put = await here.ask("PUT", GROUP, { body });
    const taken = isTaken(file.fate, "client");
    expect([put.status, reasonOf(put)]).toEqual(taken ? [200, undefined] : [400, "INVALID_BODY"]);
    expect(double.requests.length).toBe(sent + (taken ? 1 : 0));
    if (!taken) return;
    const arrived = JSON.parse(double.requests.at(-1)?.body.toString() ?? "");
    expect(JSON.stringify(arrived.x)).toBe(meaning(file.bytes));
  });

  it.each(files)("T-SMG-31: as an upstream's answer, $suite: $name is $fate", async (file) => {
    const taken = isTaken(file.fate, "platform");
    const get = async (target: string, bytes: Uint8Array) => {
      answer = Buffer.from(bytes).toString("latin1");
      return here.ask("GET", target);
    };
    // No record of this uid, whatever else it is.
    const alone = await get(GROUP, file.bytes);
    expect([alone.status, reasonOf(alone)]).toEqual([502, "UPSTREAM_INVALID"]);
    const one = await get(GROUP, within(file, `{"uid":"${UID}",`));
    const refused = [502, "UPSTREAM_INVALID"];
    expect([one.status, one.status === 200 ? undefined : reasonOf(one)]).toEqual(taken ? [200, undefined] : refused);
    if (taken) expect(JSON.stringify(one.json.x)).toBe(meaning(file.bytes));
    const record = within(file, `{"uid":"${UID}",`);
    const page = Buffer.concat([Buffer.from('{"groups":['), record, Buffer.from('],"totalCount":"1"}')]);
    const list = await get("/iam/v1/groups", page);
    expect([list.status, list.status === 200 ? undefined : reasonOf(list)]).toEqual(taken ? [200, undefined] : refused);
    if (taken) expect(JSON.stringify(list.json.items[0].x)).toBe(meaning(file.bytes));
  });

  it("T-SMG-31: and nothing of it was carryover's own mistake", async () => {
    expect(here.exchanges.filter(({ reason }) => reason === "INTERNAL")).toEqual([]);
    const { status } = await get200();
    expect(status).toBe(200);
    figure("T-SMG-31", "files of JSON conformance suites, each as a body and as an answer", files.length, "files");
  });

  async function get200() {
    answer = `{"uid":"${UID}","name":"a"}`;
    return here.ask("GET", GROUP);
  }
});

const text8 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");
