/** A lone surrogate, which JSON may hold and no URL can, ends in an error of v1's own, wherever it stands. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCatalogue } from "../../../src/catalogue.ts";
import type { Operation } from "../../../src/model/resource.ts";
import { message, requestsOf } from "../../fuzz/requests.ts";
import { ok } from "../../listener/support/double.ts";
import { type Front, front, serving } from "./front.ts";

const catalogue = await loadCatalogue("v2beta1");
const HALF = "a\ud800";
const UID = `${"0a".repeat(20)}/${"1b".repeat(8)}`;

const asked = catalogue.resources.flatMap((resource) =>
  resource.operations.flatMap((operation: Operation) => {
    if (operation.kind === "native") return [];
    const [first] = requestsOf(resource, operation);
    if (first === undefined) throw new Error(`nothing asks for ${operation.name}`);
    return [{ name: `${resource.name} ${operation.name}`, resource, ...first }];
  }),
);
type Asked = (typeof asked)[number];

/** `json` once for each text in it, with half of a character in that one's place. */
function spoilt(json: string): string[] {
  const at = (place: number): [string, number] => {
    let texts = 0;
    const value = JSON.parse(json, (_, member) => (typeof member === "string" && texts++ === place ? HALF : member));
    return [JSON.stringify(value), texts];
  };
  return Array.from({ length: at(-1)[1] }, (_, place) => at(place)[0]);
}

/** What the platform answers; undefined: as it serves anything else. */
let said: { readonly record: object; readonly page: object } | undefined;
let here: Front;
beforeAll(async () => {
  here = await front(
    (request, socket) => {
      if (said === undefined) return serving(request, socket);
      const lists = /^GET \/\w+\/v2beta1\/\w+(\?|:| )/.test(request.line);
      socket.write(ok(JSON.stringify(lists ? said.page : said.record)));
    },
    { upstreamV2Breaker: "false" },
  );
});
afterAll(() => here.close());

async function answerTo({ method, target }: Asked, body: string | undefined): Promise<string> {
  return (await here.talk(message(method, target, body).replace("\r\n", "\r\nConnection: close\r\n"))).text;
}

describe("T-SMG-31: half of a character", () => {
  const bodies = asked.map((one) => ({ ...one, bodies: one.body === undefined ? [] : spoilt(one.body) }));
  it.each(bodies.filter((one) => one.bodies.length > 0))("is refused anywhere in a body of $name", async (one) => {
    said = undefined;
    for (const body of one.bodies) {
      const text = await answerTo(one, body);
      expect([body, text.slice(0, 13)]).toEqual([body, "HTTP/1.1 400 "]);
      expect(text).toContain("lone surrogate");
    }
  });

  it.each(asked)("in what the platform answers to $name is no mistake of carryover's own", async (one) => {
    for (const uid of [UID, HALF]) {
      for (const nextPageToken of ["", HALF]) {
        const record = { uid, name: HALF, group: HALF, role: HALF, identity: HALF };
        said = { record, page: { [one.resource.items]: [record], nextPageToken } };
        expect(await answerTo(one, one.body)).toMatch(/^HTTP\/1\.1 (?!500)\d{3} /);
      }
    }
  });
});
