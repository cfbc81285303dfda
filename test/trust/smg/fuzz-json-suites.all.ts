/** Every file of the public JSON conformance suites through the whole of carryover, as a client's body and as an upstream's response. (Beside fuzz-json-suites.test.ts.) */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Rig, reasonOf, rig } from "../../app/rig.ts";
import { isTaken, type SuiteFile, suiteFiles } from "../../json/conformance/suites.ts";
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
