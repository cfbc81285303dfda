import { describe, expect, test } from "vitest";
import { createSandbox } from "../../sandbox/src/sandbox.ts";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import type { ApiRequest, ApiResponse, Send } from "../../src/model/http.ts";
import type { Json } from "../../src/model/json.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { createFront, type Told } from "../support/front.ts";
import { type Case, casesOf, placesIn, SECRET, type Target, targetsOf, WHOLE } from "./bad-bodies.ts";

const catalogue = await loadCatalogue("v2beta1");
const { signal } = createSignalController();
const native = createSandbox({ seed: "bad input", organisation: false });

const UID = `${"a".repeat(40)}/${"b".repeat(16)}`;
const METHODS = new Map([
  ["create", "POST"],
  ["update", "PUT"],
]);

/** The v1 request for `target` with this body; without a token, so that no answer but the decoder's own tells anything. */
function requestOf({ resource, operation }: Target, body: string | Uint8Array): ApiRequest {
  const own =
    "path" in operation ? operation.path.replace(/\{\w+=\*\*\}/, UID).replace(/\{\w+=\*\}/g, "one") : undefined;
  const path = own ?? `${resource.v1}/${UID}`;
  const method = "method" in operation ? operation.method : (METHODS.get(operation.kind) ?? "");
  const whole = isBatch({ operation }) && typeof body === "string" ? `[${body}]` : body;
  return { method, target: `/${resource.domain}/v1/${path}`, headers: [], body: Buffer.from(whole) };
}

/** v1's batches are bare lists of bodies. */
const isBatch = ({ operation }: Pick<Target, "operation">): boolean =>
  "by" in operation && operation.by === "create-batch";
/** One call with the body in it; what several calls make of a body has tests of its own. */
const isPlain = ({ operation }: Target): boolean => !("by" in operation) || operation.by === undefined;

const json = (status: number, body: Json): ApiResponse => ({
  status,
  headers: [["content-type", "application/json"]],
  body: Buffer.from(JSON.stringify(body)),
});

/** v2 that rejects every token: a request that gets here was understood. */
const locked: Send = async () => json(401, { code: 16, message: "who are you", details: [] });
/** v2 that has every record, at its zeros, and takes everything. */
const willing: Send = async ({ method, target }) => {
  const rest = target.split("?")[0]?.split("/").slice(4).join("/") ?? "";
  const uid = rest.replace(/:[A-Za-z]+$/, "");
  return json(200, { uid: method === "POST" || rest === "" ? UID : rest, identityProviderUid: uid });
};

const askLocked = createFront(catalogue)(locked);
const askWilling = createFront(catalogue, { mismatch: "report" })(willing);

/** What v1's decoder says: 400, or something that comes behind it. */
async function nativeRefuses(request: ApiRequest): Promise<boolean> {
  const { status } = await native.send(request, { signal });
  expect([400, 401]).toContain(status);
  return status === 400;
}

/** The calls that write, as they left. */
const writes = ({ sent }: Told) =>
  sent
    .filter(({ method }) => method !== "GET")
    .map(({ method, target, body }) => ({ method, target, body: Buffer.from(body ?? "").toString() }));

function isRefusal(told: Told, field: string | undefined): void {
  const { problem } = told;
  expect([told.status, problem?.reason, problem?.code, told.sent]).toEqual([400, "INVALID_BODY", 3, []]);
  expect(JSON.stringify([problem?.message, problem?.fieldViolations, problem?.metadata])).not.toContain(SECRET);
  expect(problem?.message.length).toBeLessThan(1_000);
  if (field === undefined) return;
  const named = problem?.fieldViolations[0]?.field ?? "";
  // An element or a value in the member may be what is wrong.
  expect([field, named, named === field || named.startsWith(`${field}[`) || named.startsWith(`${field}.`)]).toEqual([
    field,
    named,
    true,
  ]);
}

/** Members that v1's specification gives to every record, and the published message of this one lacks: v1's decoder did not know them. */
const BEYOND_V1: ReadonlySet<string> = new Set(["tag createdAt"]);

async function check(target: Target, { body, fate, what }: Case): Promise<void> {
  const request = requestOf(target, body);
  const told = await askLocked(request);
  const refuses = await nativeRefuses(request);
  if (fate.kind === "refused") {
    isRefusal(told, isBatch(target) ? `[0].${fate.field}` : fate.field);
    if (BEYOND_V1.has(`${target.resource.name} ${what.split(" ")[0]}`)) return;
    expect([what, "v1 refuses", refuses]).toEqual([what, "v1 refuses", fate.v1Takes !== true]);
    return;
  }
  if (!isPlain(target) && told.status === 400) {
    isRefusal(told, "sync_config");
    expect([what, refuses]).toEqual([what, false]);
    return;
  }
  expect([what, told.status, refuses]).toEqual([what, 401, false]);
  if (!isPlain(target)) return;
  const sent = writes(await askWilling(request));
  if (fate.kind === "sent") expect(sent.some((each) => each.body.includes(fate.holds))).toBe(true);
  else expect(sent).toEqual(writes(await askWilling(requestOf(target, fate.body))));
}

const targets = targetsOf(catalogue.resources).map((target) => ({
  name: `${target.resource.name} ${target.operation.name}`,
  target,
}));

describe("T-SMG-31: a body that is wrong in one member", () => {
  test.each(targets)("of $name", { timeout: 60_000 }, async ({ target }) => {
    const cases = placesIn(target).flatMap(casesOf);
    expect(cases.length).toBeGreaterThan(10);
    for (const each of cases) await check(target, each);
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(PROTOTYPE);
  });
});

/** As it was before anything was read. */
const PROTOTYPE = Object.getOwnPropertyNames(Object.prototype);

describe("T-SMG-31: a body that is wrong as a whole", () => {
  test.each(targets)("of $name", async ({ target }) => {
    for (const { what, body: record, v1Takes } of WHOLE) {
      const isWhole = v1Takes === true && isBatch(target);
      const body = isWhole ? Buffer.from(Buffer.from(record).toString().replace("{}", "[]")) : record;
      const request = requestOf(target, body);
      isRefusal(await askLocked(request), undefined);
      expect([what, await nativeRefuses(request)]).toEqual([what, v1Takes !== true]);
    }
    const deep = requestOf(target, `{"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
    isRefusal(await askLocked(deep), undefined);
  });
});
