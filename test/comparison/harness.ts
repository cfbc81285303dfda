/** How are two platforms kept that differ only in who translates: native v1 of one, v1 through carryover of the other? */
import type { Json, JsonObject } from "../../src/model/json.ts";
import { isJsonObject, member } from "../../src/model/json.ts";
import type { ApiRequest, ApiResponse } from "../../src/model/message.ts";
import { createStopper } from "../../src/model/signal.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { createSandbox, type Sandbox } from "../../src/sandbox/sandbox.ts";
import type { Call, Caller, Given, Known, Seen } from "./call.ts";
import { exchange } from "./http.ts";
import { jsonDifferences } from "./json-diff.ts";

/** What serves v1 over the second sandbox. */
export interface Front {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts it. `startCarryover` is one; `directly` below is another, for a test of the calls themselves. */
export type StartFront = (upstream: { readonly v2Url: string }) => Promise<Front>;

/** No carryover at all: the calls reach the second sandbox's own v1. Both sides must then be equal whatever is called. */
export const directly: StartFront = async ({ v2Url }) => ({ url: v2Url, close: async () => {} });

/** Brings a request to one of the two: over a connection, or in memory. */
export type Carry = (request: ApiRequest) => Promise<ApiResponse>;

/** One of the two, with what it has answered so far. */
export interface Side {
  readonly sandbox: Sandbox;
  readonly seen: Seen;
  ask(call: Call): Promise<ApiResponse>;
}

export interface Pair {
  readonly native: Side;
  readonly carried: Side;
  /** Where the two stores differ, nothing left out. */
  storeDifferences(): string[];
  close(): Promise<void>;
}

const START = Date.parse("2026-03-01T08:00:00.000Z");
const SECOND = 1000;

/** What both platforms are made of: the seed, and a clock that shows the second after the scenario's start given by `elapsed`. */
export function sandboxOptions(elapsed: () => number): SandboxOptions {
  return { seed: "comparison", clock: () => new Date(START + elapsed() * SECOND) };
}

function overHttp(url: string): Carry {
  return ({ method, target, headers, body }) =>
    exchange({ method, url, target, headers: Object.fromEntries(headers), body });
}

/**
 * Two sandboxes with one seed and one clock, the second behind `start`. The clock stands still while a call is made on both
 * sides and moves a second on before the next, so that a time that was written in vain is a difference of the stores.
 * `both`: options of both sandboxes; `second`: further ones of the second, which only its v2 may show.
 */
export async function startPair(
  start: StartFront,
  both: SandboxOptions = {},
  second: SandboxOptions = {},
): Promise<Pair> {
  let elapsed = 0;
  const shared: SandboxOptions = { ...sandboxOptions(() => elapsed), ...both };
  const [first, other] = [createSandbox(shared), createSandbox({ ...shared, ...second })];
  const [{ url }, { url: v2Url }] = [await first.listen(), await other.listen()];
  const front = await start({ v2Url });
  let asked = 0;
  const tick = () => {
    elapsed = Math.floor(asked / 2);
    asked += 1;
  };
  return {
    native: createSide(first, overHttp(url), tick),
    carried: createSide(other, overHttp(front.url), tick),
    storeDifferences: () => snapshotDifferences(first, other),
    async close() {
      await front.close();
      await Promise.all([first.close(), other.close()]);
    },
  };
}

/** `sandbox`, asked by way of `carry`; `tick` is called before each call. */
export function createSide(sandbox: Sandbox, carry: Carry, tick: () => void): Side {
  const answers = new Map<string, Json>();
  const seen: Seen = {
    known: knownOf(sandbox),
    answer: (call) => answerOf(answers, call),
    id: (call) => identityIn(answerOf(answers, call), call),
    item: (call, name, value) => itemIn(answerOf(answers, call), call, name, value),
  };
  return {
    sandbox,
    seen,
    async ask(call) {
      tick();
      const answer = await carry({
        method: call.method,
        target: given(call.path, seen),
        headers: Object.entries({ ...(await authorization(sandbox, call.as ?? "admin")), ...call.headers }),
        ...(call.body === undefined ? {} : { body: bytes(given(call.body, seen)) }),
      });
      if (!answers.has(call.name)) answers.set(call.name, parsed(answer));
      return answer;
    },
  };
}

/** The value, made with what this side has seen where the call asks for that. */
export function given<T>(value: Given<T>, seen: Seen): T {
  return typeof value === "function" ? (value as (seen: Seen) => T)(seen) : value;
}

async function authorization(sandbox: Sandbox, caller: Caller): Promise<Record<string, string>> {
  if (caller === "anonymous") return {};
  if (caller === "forged") return bearer("nobody-issued-this");
  return bearer(caller === "person" ? await personsToken(sandbox) : sandbox.token(tokenName(sandbox, caller)));
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** A login of the first person with a verified e-mail address, exchanged as such a person would. */
async function personsToken(sandbox: Sandbox): Promise<string> {
  const person = sandbox.snapshot().identities.find((one) => one["email"] && one["claimMatch"]);
  const { issuer, subject } = (person?.["claimMatch"] ?? {}) as { issuer: string; subject: string };
  const target = `/sts/exchange?aud=${encodeURIComponent("https://api.example.com")}&identity=${person?.["uid"]}`;
  const headers = Object.entries(bearer(sandbox.oidcToken(issuer, subject)));
  const answer = await sandbox.send({ method: "GET", target, headers }, { signal: createStopper().signal });
  const token = member(parsed(answer), "token");
  if (typeof token !== "string") throw new Error(`no token was exchanged: ${answer.status}`);
  return token;
}

function tokenName(sandbox: Sandbox, caller: Caller): string {
  if (caller === "outsider") return `admin@${sandbox.wellKnown.otherRootGroup}`;
  return caller === "powerless" ? "nobody" : caller;
}

function bytes(body: Json | Uint8Array): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}

/** What every side knows of the seed. */
export function knownOf(sandbox: Sandbox): Known {
  const { rootGroup, otherRootGroup, someGroup, emptyGroup, repo, syncedRepo, advisory, assumable } = sandbox.wellKnown;
  const { roles, identities } = sandbox.snapshot();
  return {
    root: rootGroup,
    parent: someGroup,
    leaf: emptyGroup,
    elsewhere: otherRootGroup,
    identityOfCompany: () =>
      uidOf(
        identities.find((one) => one["company"] && one["claimMatch"]),
        "an identity of a company",
      ),
    role(name) {
      return uidOf(
        roles.find((role) => role["name"] === name && !String(role["uid"]).includes("/")),
        `a role ${name}`,
      );
    },
    repo,
    syncedRepo,
    advisory,
    claims: assumable,
  };
}

function uidOf(record: JsonObject | undefined, what: string): string {
  const uid = record?.["uid"];
  if (typeof uid !== "string") throw new Error(`the seed does not have ${what}`);
  return uid;
}

/** The body as JSON; null when it is none. */
export function parsed(answer: ApiResponse): Json {
  try {
    return JSON.parse(new TextDecoder().decode(answer.body)) as Json;
  } catch {
    return null;
  }
}

function answerOf(answers: ReadonlyMap<string, Json>, call: string): Json {
  const answer = answers.get(call);
  if (answer === undefined) throw new Error(`no call named ${call} was made before`);
  return answer;
}

function items(answer: Json): Json[] {
  const list = member(answer, "items");
  return Array.isArray(list) ? list : [];
}

/** Of a list: the least of its ids, so that both sides mean the same record whatever the order. */
function identityIn(answer: Json, call: string): string {
  const records = member(answer, "items") === undefined ? [answer] : items(answer);
  const ids = records.map((one) => member(one, "id") ?? member(one, "group"));
  const id = ids.filter((one) => typeof one === "string" && one !== "").toSorted()[0];
  if (typeof id !== "string")
    throw new Error(`the answer of ${call} has no id: ${JSON.stringify(answer).slice(0, 300)}`);
  return id;
}

function itemIn(answer: Json, call: string, name: string, value: Json): JsonObject {
  const found = items(answer).find((item) => member(item, name) === value);
  if (!isJsonObject(found))
    throw new Error(`the list of ${call} has no record whose ${name} is ${JSON.stringify(value)}`);
  return found;
}

function snapshotDifferences(first: Sandbox, other: Sandbox): string[] {
  const [left, right] = [first.snapshot(), other.snapshot()];
  // Whole texts first: comparing tens of thousands of values one by one after each write would take long.
  return JSON.stringify(left) === JSON.stringify(right) ? [] : jsonDifferences(left, right);
}
