/** Makes v1 calls to one platform: to native v1 itself, or to a translation in front of its v2. */
import { Agent } from "node:http";
import { createServerAround } from "../../../sandbox/src/http.ts";
import { type SandboxOptions, settingsOf } from "../../../sandbox/src/options.ts";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import type { Content, Contents } from "../../../sandbox/src/store/store.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import type { ApiRequest, ApiResponse, Send } from "../../../src/model/http.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../../src/model/json.ts";
import { createSignalController } from "../../../src/model/signal.ts";
import { startCarryover } from "../../support/carryover.ts";
import type { Call, Caller, Given, Known, Seen } from "./call.ts";
import { exchange } from "./http.ts";
import { jsonDifferences } from "./json-diff.ts";

/** Brings a request to one of the two: over a connection, or in memory. */
export type Carry = (request: ApiRequest) => Promise<ApiResponse>;

/** Puts what is tried between v1 requests and the v2 of this platform. */
export type StartFront = (v2: Sandbox) => Promise<Carry>;

/** A front without a port: given the second platform's `send`, it answers v1 requests. */
export type MemoryFront = (v2: Send) => Carry;

/** Nothing between: the second platform's own v1. */
export const unchanged: MemoryFront = (v2) => (request) => v2(request, { signal: createSignalController().signal });

export function inMemory(front: MemoryFront): StartFront {
  return async (v2) => asOverHttp(front(v2.send));
}

/** A connection never brings the body of an answer to HEAD. */
function asOverHttp(carry: Carry): Carry {
  return async (request) => {
    const answer = await carry(request);
    return request.method === "HEAD" ? { ...answer, body: new Uint8Array() } : answer;
  };
}

/**
 * The whole program over connections, started once for any number of scenarios over v2 of one kind: it finds each one's platform at
 * one address. It remembers no record, only guesses: the spelling of masks, the lengths of lists, whether `skip` works.
 */
export async function startWhole(
  flags: Readonly<Record<string, string>> = {},
): Promise<{ readonly front: StartFront; close(): Promise<void> }> {
  const current: { send: Send } = { send: () => Promise.reject(new Error("there is no platform yet")) };
  const server = createServerAround((request, options) => current.send(request, options), settingsOf({}).maxBodyBytes);
  const { url: v2Url } = await server.listen();
  const { url, close } = await startCarryover({ v2Url, flags });
  const agent = new Agent({ keepAlive: true });
  const carry: Carry = ({ method, target, headers, body }) =>
    exchange({ method, url, target, headers: Object.fromEntries(headers), body, agent });
  return {
    front: async ({ send }) => {
      current.send = send;
      return carry;
    },
    async close() {
      agent.destroy();
      await close();
      await server.close();
    },
  };
}

/** A platform with what it has answered so far. */
export interface Side {
  readonly sandbox: Sandbox;
  readonly seen: Seen;
  ask(call: Call): Promise<ApiResponse>;
}

const START = Date.parse("2026-03-01T08:00:00.000Z");
const SECOND = 1000;

/** What both platforms are made of: the seed, and a clock that shows the second after the scenario's start given by `elapsed`. */
export function sandboxOptions(elapsed: () => number): SandboxOptions {
  return { seed: "comparison", clock: () => new Date(START + elapsed() * SECOND) };
}

/**
 * A platform for one scenario. Its clock stands still during a call and moves on a second before the next, so that a time
 * that was written in vain is a difference of the stores.
 */
export async function startSide(
  { size = 0, organisation = true }: Pick<SandboxOptions, "size" | "organisation">,
  start: StartFront,
  options: SandboxOptions = {},
): Promise<Side> {
  let asked = 0;
  const basic = sandboxOptions(() => Math.max(0, asked - 1));
  const sandbox = seededSandbox({ ...basic, size, organisation, ...options });
  return createSide(sandbox, await start(sandbox), () => {
    asked += 1;
  });
}

/** `sandbox`, asked by way of `carry`; `tick` is called before each call. */
export function createSide(sandbox: Sandbox, carry: Carry, tick: () => void): Side {
  const answers = new Map<string, () => Json>();
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
      if (!answers.has(call.name))
        answers.set(
          call.name,
          once(() => parsed(answer)),
        );
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
  const person = sandbox.contents().identities.find(({ value }) => value["email"] && value["claimMatch"])?.value;
  const { issuer, subject } = (person?.["claimMatch"] ?? {}) as { issuer: string; subject: string };
  const target = `/sts/exchange?aud=${encodeURIComponent("https://api.example.com")}&identity=${person?.["uid"]}`;
  const headers = Object.entries(bearer(sandbox.oidcToken(issuer, subject)));
  const answer = await sandbox.send({ method: "GET", target, headers }, { signal: createSignalController().signal });
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
function knownOf(sandbox: Sandbox): Known {
  const { rootGroup, otherRootGroup, someGroup, emptyGroup, repo, syncedRepo, advisory, assumable } = sandbox.wellKnown;
  const { roles, identities } = sandbox.contents();
  return {
    root: rootGroup,
    parent: someGroup,
    leaf: emptyGroup,
    elsewhere: otherRootGroup,
    identityOfCompany: () =>
      uidOf(
        identities.find(({ value }) => value["company"] && value["claimMatch"]),
        "an identity of a company",
      ),
    role(name) {
      return uidOf(
        roles.find(({ value }) => value["name"] === name && !String(value["uid"]).includes("/")),
        `a role ${name}`,
      );
    },
    repo,
    syncedRepo,
    advisory,
    claims: assumable,
  };
}

function uidOf(record: Content | undefined, what: string): string {
  const uid = record?.value["uid"];
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

/** What `make` gives, made when it is first asked for. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function answerOf(answers: ReadonlyMap<string, () => Json>, call: string): Json {
  const answer = answers.get(call);
  if (answer === undefined) throw new Error(`no call named ${call} was made before`);
  return answer();
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

/** Two stores that were equal, to be looked at again and again: says where they differ now, nothing left out. */
export function createStoreComparison(): (left: Contents, right: Contents) => string[] {
  let equal: readonly [Contents, Contents] | undefined;
  return (left, right) => {
    const names = (Object.keys(left) as (keyof Contents)[]).filter((name) => {
      // The same arrays as last time: nothing was written.
      const untouched = left[name] === equal?.[0][name] && right[name] === equal[1][name];
      return !untouched && !isEqual(left[name], right[name]);
    });
    if (names.length === 0) {
      equal = [left, right];
      return [];
    }
    const plain = (contents: Contents) => Object.fromEntries(names.map((name) => [name, contents[name].map(plainOf)]));
    return jsonDifferences(plain(left), plain(right));
  };
}

function isEqual(left: readonly Content[], right: readonly Content[]): boolean {
  return (
    left.length === right.length &&
    left.every((one, index) => {
      const other = right[index];
      // Records that neither side has written are the same objects of their common seed.
      if (one.value === other?.value && one.extra === other.extra) return true;
      return other !== undefined && JSON.stringify(plainOf(one)) === JSON.stringify(plainOf(other));
    })
  );
}

function plainOf({ value, extra }: Content): JsonObject {
  return { ...value, extra };
}
