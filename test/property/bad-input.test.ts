/** What becomes of a body that is wrong, in every member of every operation? (Issue 4, bad input; gateway facts: bodies.) */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../src/model/json.ts";
import type { ApiRequest, ApiResponse, Send } from "../../src/model/message.ts";
import type { Row } from "../../src/model/resource.ts";
import { createStopper } from "../../src/model/signal.ts";
import { createSandbox } from "../../src/sandbox/sandbox.ts";
import { variants } from "../support/tier.ts";
import {
  type Case,
  casesOf,
  companions,
  goodValue,
  placesIn,
  SECRET,
  spellings,
  type Target,
  targetsOf,
  WHOLE,
  wantsAll,
} from "./bad-bodies.ts";
import { createFront, type Told } from "./front.ts";

const RUNS = Number(process.env["FC_RUNS"] ?? variants(40, 100));
const catalogue = await loadCatalogue("v2beta1");
const { signal } = createStopper();
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

/** v2 that lets nobody in: whoever gets here was understood. */
const locked: Send = async () => json(401, { code: 16, message: "who are you", details: [] });
/** v2 that has every record, at its zeros, and takes everything. */
const willing: Send = async ({ method, target }) => {
  const rest = target.split("?")[0]?.split("/").slice(4).join("/") ?? "";
  const uid = rest.replace(/:[A-Za-z]+$/, "");
  return json(200, { uid: method === "POST" || rest === "" ? UID : rest, identityProviderUid: uid });
};

const askLocked = createFront(catalogue, locked);
const askWilling = createFront(catalogue, willing, { mismatch: "report" });

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

/** Members that the specification gives to every record (section 9), and the map not to this one: v1's decoder did not know them. */
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
    const cases = placesIn(target).flatMap((place) => casesOf(place, wantsAll(target)));
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

describe("whatever a body says, nothing is sent that the client did not ask for", () => {
  test.each(targets.filter(({ target }) => isPlain(target)))(
    "by $name",
    { timeout: 20_000 + RUNS * 100 },
    async ({ target }) => {
      const seen = { sent: 0, refused: 0 };
      await fc.assert(
        fc.asyncProperty(bodyOf(target.rows, companions(target)), async (text) => {
          const told = await askWilling(requestOf(target, text));
          if (told.problem !== undefined) {
            seen.refused += 1;
            isRefusal(told, undefined);
            return;
          }
          seen.sent += 1;
          expect(told.status).toBe(200);
          for (const { body, target: to } of writes(told)) {
            const mask = /updateMask=([^&]*)$/.exec(to)?.[1]?.split(",");
            expect(new URL(to, "http://v2").searchParams.size).toBe(mask === undefined ? 0 : 1);
            comesFrom(target.rows, JSON.parse(text), JSON.parse(body), mask, "");
          }
        }),
        { numRuns: RUNS },
      );
      // Few bodies of an operation with one member are wrong: only many runs meet one for certain.
      expect([seen.sent > RUNS / 10, seen.refused > 0 || RUNS < 100]).toEqual([true, true]);
    },
  );
});

/** Bodies of members good and bad, in either spelling, with strangers between them. */
function bodyOf(rows: readonly Row[], wanted: readonly string[] = []): fc.Arbitrary<string> {
  const stranger = fc.constantFrom('"__proto__":{"a":1}', '"uid":"x"', '"nonsense":[1]', '"constructor":null', "");
  const one = (row: Row): fc.Arbitrary<string> => {
    const name = fc.constantFrom(...spellings(row));
    const wrong = fc.constantFrom("null", '"x"', "[]", "{}", "0", "7", '""', '"NOPE"', "[{}]", '{"__proto__":"v"}');
    const good = row.kind === "message" && row.list !== true ? bodyOf(row.rows) : fc.constant(goodValue(row));
    const value = fc.oneof({ weight: 8, arbitrary: good }, { weight: 1, arbitrary: wrong });
    return fc.tuple(name, value).map(([key, text]) => `${JSON.stringify(key)}:${text}`);
  };
  const some = fc
    .subarray([...rows], { maxLength: Math.min(5, rows.length) })
    .chain((taken) => fc.tuple(...withoutRivals(taken).map(one)));
  return fc.tuple(some, stranger).map(([members, more]) => {
    const keys = new Set(members.map((text) => text.split(":")[0]));
    const missing = wanted.filter((text) => !keys.has(text.split(":")[0]));
    return `{${[...missing, ...members, more].filter((text) => text !== "").join(",")}}`;
  });
}

/** Mostly one of each oneof: two are refused, and then nothing is to be seen. */
function withoutRivals(rows: readonly Row[]): readonly Row[] {
  return rows.filter(
    (row, index) => row.oneof === undefined || rows.findIndex(({ oneof }) => oneof === row.oneof) === index,
  );
}

/** Each member of `sent` is what `given` says under its v1 name, or a zero that the mask names. */
function comesFrom(
  rows: readonly Row[],
  given: Json,
  sent: JsonObject,
  mask: readonly string[] | undefined,
  path: string,
): void {
  for (const [key, value] of Object.entries(sent)) {
    const row = rows.find(({ v2 }) => v2 === key);
    const at = path === "" ? key : `${path}.${key}`;
    expect([at, row !== undefined && row.access !== "output" && row.mask !== "never"]).toEqual([at, true]);
    if (row === undefined) return;
    const asked = spellings(row)
      .map((name) => member(given, name))
      .find((each) => each !== undefined && each !== null);
    if (asked === undefined || isDropped(row, asked)) {
      expect([at, zeroOf(row), mask?.includes(snakePath(row, at))]).toEqual([at, value, true]);
    } else {
      isTranslated(row, asked, value, mask, at);
    }
  }
}

const snakePath = (row: Row, at: string): string => {
  const names = at.split(".").map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return [...names.slice(0, -1), row.v2Proto ?? names.at(-1)].join(".");
};

/** An enum name that v1 does not know says nothing. */
const isDropped = (row: Row, asked: Json): boolean =>
  row.kind === "enum" &&
  row.list !== true &&
  typeof asked === "string" &&
  !row.values.values.some(([v1]) => v1 === asked);

/** What a full replace writes for a member that was left out. */
function zeroOf(row: Row): Json {
  if ("zero" in row && row.zero === null) return null;
  if (row.kind === "map") return {};
  if (row.list === true) return [];
  switch (row.kind) {
    case "string":
    case "bytes":
      return "";
    case "bool":
      return false;
    case "int32":
    case "uint32":
      return 0;
    case "int64":
      return "0";
    case "enum":
      return row.values.values.find(([v1, number]) => v1 !== null && number === 0)?.[2] ?? null;
    default:
      return null;
  }
}

function isTranslated(row: Row, asked: Json, sent: Json, mask: readonly string[] | undefined, at: string): void {
  if (row.kind === "map") {
    const of = row.of;
    const keys = (value: Json) => isJsonObject(value) && Object.keys(value);
    if (typeof of === "string") expect([at, sent]).toEqual([at, asked]);
    else expect([at, keys(sent)]).toEqual([at, keys(asked)]);
    return;
  }
  const single = { ...row, list: undefined } as unknown as Row;
  if (row.list === true) {
    const items = (asked as Json[]).filter((item) => !isDropped(single, item));
    expect([at, Array.isArray(sent) && sent.length]).toEqual([at, items.length]);
    for (const [index, item] of items.entries()) {
      isTranslated(single, item, (sent as Json[])[index] ?? null, undefined, at);
    }
  } else if (row.kind === "message") {
    expect([at, isJsonObject(sent)]).toEqual([at, true]);
    comesFrom(row.rows, asked, sent as JsonObject, mask, at);
  } else if (row.kind === "enum") {
    const entry = row.values.values.find(
      ([v1, number]) => v1 === asked || (typeof asked === "number" && number === asked),
    );
    expect([at, sent]).toEqual([at, entry?.[2]]);
  } else {
    expect([at, sent]).toEqual([at, asked]);
  }
}
