/** Does half of a character, which JSON may hold and no URL can, end as v1's own errors do, wherever it stands? */
import { describe, expect, it } from "vitest";
import { loadCatalogue } from "../../../src/catalogue.ts";
import type { Operation, Resource } from "../../../src/model/resource.ts";
import { message, requestsOf } from "../../fuzz/requests.ts";
import { ok } from "../../listener/support/double.ts";
import { type Front, front } from "./front.ts";

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

async function answerTo(here: Front, { method, target }: Asked, body: string | undefined): Promise<string> {
  return (await here.talk(message(method, target, body).replace("\r\n", "\r\nConnection: close\r\n"))).text;
}

/** A platform that answers everything with `record`, and lists with a page of it. */
function platformOf({ items }: Resource, record: object, nextPageToken: string): Promise<Front> {
  return front(({ line }, socket) => {
    const lists = /^GET \/\w+\/v2beta1\/\w+(\?|:| )/.test(line);
    socket.write(ok(JSON.stringify(lists ? { [items]: [record], nextPageToken } : record)));
  });
}

describe("T-SMG-31: half of a character", () => {
  const texts = asked.flatMap((one) =>
    one.body === undefined ? [] : spoilt(one.body).map((body) => ({ ...one, body })),
  );

  it.each(texts)("is refused in a body of $name: $body", async (one) => {
    const here = await front();
    const text = await answerTo(here, one, one.body);
    await here.close();
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain("lone surrogate");
  });

  it.each(asked)("in what the platform answers to $name is no mistake of carryover's own", async (one) => {
    for (const uid of [UID, HALF]) {
      for (const token of ["", HALF]) {
        const record = { uid, name: HALF, group: HALF, role: HALF, identity: HALF };
        const here = await platformOf(one.resource, record, token);
        const text = await answerTo(here, one, one.body);
        await here.close();
        expect(text).toMatch(/^HTTP\/1\.1 (?!500)\d{3} /);
      }
    }
  });
});
