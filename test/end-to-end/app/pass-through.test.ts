import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Ask, type Rig, rig, send } from "./rig.ts";

let here: Rig;
beforeAll(async () => {
  here = await rig({ sandbox: { clock: () => new Date("2026-03-04T05:06:07.089Z") } });
});
afterAll(() => here.close());

const V2 = "/iam/v2beta1/groups";
const group = () => here.sandbox.wellKnown.someGroup;
/** What carryover adds to an answer, and what belongs to a connection. */
const OURS = new Set(["via", "x-request-id", "date", "connection", "keep-alive", "transfer-encoding"]);

const direct = (method: string, target: string, ask: Ask = {}) =>
  send(here.sandboxUrl, here.sandbox, method, target, ask);

function seen(answer: Answer) {
  return {
    status: answer.status,
    fields: answer.headers.filter(([name]) => !OURS.has(name)),
    body: Buffer.from(answer.body).toString("latin1"),
  };
}

const READS: readonly (readonly [method: string, target: () => string, ask?: Ask])[] = [
  ["GET", () => `${V2}?page_size=3`],
  ["GET", () => `${V2}?page_size=3&skip=2&order_by=name`],
  ["GET", () => `${V2}/${group()}`],
  ["GET", () => `${V2}/${group().replaceAll("/", "%2F")}`],
  ["GET", () => `${V2}/${group()}/`],
  ["GET", () => `${V2}?name=%zz`],
  ["GET", () => `${V2}?name=a;b`],
  ["GET", () => `${V2}//`],
  ["GET", () => `${V2}/none`],
  ["GET", () => `${V2}/a%2562`],
  ["GET", () => `${V2}?a=?&b`],
  ["GET", () => V2, { as: null }],
  ["GET", () => V2, { as: "nobody" }],
  ["HEAD", () => V2],
  ["OPTIONS", () => V2],
  ["PUT", () => `${V2}/${group()}`, { body: "{}" }],
  ["PATCH", () => `${V2}/${group()}`, { body: '{"name":' }],
  ["PATCH", () => `${V2}/${group()}?updateMask=nonsense`, { body: "{}" }],
  ["POST", () => V2, { body: "null" }],
  ["POST", () => V2, { body: Buffer.from([0xff, 0x00]), headers: { "content-type": "application/octet-stream" } }],
  ["GET", () => "/iam/v2/groups"],
  ["GET", () => "/registry/v2beta1/nothing"],
];

describe("a request to v2", () => {
  it.each(READS.map((one) => [one[0], one[1], one[2]] as const))(
    "%s, whatever it says, is answered as without carryover",
    async (method, target, ask = {}) => {
      const there = seen(await direct(method, target(), ask));
      const through = await here.ask(method, target(), ask);
      expect(seen(through)).toEqual(there);
      expect(through.field("via")).toBe("1.1 carryover");
      expect(here.exchanges.at(-1)).toMatchObject({ mode: "pass", apiVersion: "v2", status: there.status });
    },
  );
});
