/** Does what the platform says to a write reach the client as it was said? */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Rig, rig } from "../../app/rig.ts";
import { createDouble, type Double } from "../../listener/support/double.ts";
import { figure } from "../../support/figures.ts";

/** The 17 codes with the status that stock gateways give each: written out, so that no table of carryover's own is believed. */
const CODES: readonly (readonly [name: string, code: number, status: number])[] = [
  ["OK", 0, 200],
  ["CANCELLED", 1, 499],
  ["UNKNOWN", 2, 500],
  ["INVALID_ARGUMENT", 3, 400],
  ["DEADLINE_EXCEEDED", 4, 504],
  ["NOT_FOUND", 5, 404],
  ["ALREADY_EXISTS", 6, 409],
  ["PERMISSION_DENIED", 7, 403],
  ["RESOURCE_EXHAUSTED", 8, 429],
  ["FAILED_PRECONDITION", 9, 400],
  ["ABORTED", 10, 409],
  ["OUT_OF_RANGE", 11, 400],
  ["UNIMPLEMENTED", 12, 501],
  ["INTERNAL", 13, 500],
  ["UNAVAILABLE", 14, 503],
  ["DATA_LOSS", 15, 500],
  ["UNAUTHENTICATED", 16, 401],
];

const DETAILS = [
  {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: "R",
    domain: "platform.example",
    metadata: { a: "b" },
  },
  { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.5s" },
  { "@type": "type.googleapis.com/acme.Unheard", large: "9007199254740993", nested: { x: [1, null] } },
];
const UID = "0a/1b";

const WRITES = [
  { method: "PUT", target: `/iam/v1/groups/${UID}`, body: '{"name":"a"}' },
  { method: "POST", target: `/iam/v1/groups/${UID}`, body: '{"name":"a"}' },
  { method: "DELETE", target: `/iam/v1/groups/${UID}`, body: undefined },
];

let here: Rig;
let double: Double;
/** What the platform answers now. */
const now: { status: number; record: (method: string) => string } = { status: 200, record: () => "{}" };

beforeAll(async () => {
  double = await createDouble(({ line }, socket) => {
    const body = now.record(line.split(" ")[0] ?? "");
    const head = `HTTP/1.1 ${now.status} X\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(head + body);
  });
  here = await rig({ v2Url: double.url, native: false });
});
afterAll(async () => {
  await here.close();
  await double.close();
});

it.each(CODES)(
  "T-PUT-10: %s (%i) is %i, with its details as they came and one call for one write",
  async (_, code, status) => {
    const error = JSON.stringify({ code, message: "as the platform put it", details: DETAILS });
    const record = (uid: string) => JSON.stringify({ uid, name: "a", description: "" });
    now.status = status;
    now.record = (method) => (code !== 0 ? error : record(method === "POST" ? `${UID}/2c` : UID));
    const before = double.requests.length;
    for (const [at, { method, target, body }] of WRITES.entries()) {
      const answer = await here.ask(method, target, body === undefined ? {} : { body });
      expect([method, answer.status]).toEqual([method, status]);
      if (code !== 0) expect([method, answer.text]).toEqual([method, error]);
      else if (method !== "DELETE") expect(answer.json).toMatchObject({ name: "a", description: "" });
      // A write that was answered is never sent again, whatever the answer is: RESOURCE_EXHAUSTED and UNAVAILABLE above all.
      expect([method, double.requests.length - before]).toEqual([method, at + 1]);
    }
    figure(
      "T-PUT-10",
      "writes answered with an RPC code, status and details as the platform said",
      WRITES.length,
      "writes",
    );
  },
);
