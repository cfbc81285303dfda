/** A lone surrogate, which JSON may hold and no URL can, ends in an error of v1's own, wherever a platform puts it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import type { Operation } from "../../../src/model/resource.ts";
import { message, requestsOf } from "../../fuzz/requests.ts";
import { ok } from "../../server/support/double.ts";
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
/** What the platform answers. */
let said: { readonly record: object; readonly page: object } = { record: {}, page: {} };
let here: Front;
beforeAll(async () => {
  here = await front(
    (request, socket) => {
      const lists = /^GET \/\w+\/v2beta1\/\w+(\?|:| )/.test(request.line);
      socket.write(ok(JSON.stringify(lists ? said.page : said.record)));
    },
    { upstreamV2Breaker: "false" },
  );
});
afterAll(() => here.close());

/** In a body of a client: test/property/bad-input.test.ts. */
describe("T-SMG-31: half of a character", () => {
  it.each(asked)(
    "in what the platform answers to $name is no mistake of carryover's own",
    async ({ method, target, body, resource }) => {
      for (const uid of [UID, HALF]) {
        for (const nextPageToken of ["", HALF]) {
          const record = { uid, name: HALF, group: HALF, role: HALF, identity: HALF };
          said = { record, page: { [resource.items]: [record], nextPageToken } };
          const bytes = message(method, target, body).replace("\r\n", "\r\nConnection: close\r\n");
          expect((await here.talk(bytes)).text).toMatch(/^HTTP\/1\.1 (?!500)\d{3} /);
        }
      }
    },
  );
});
