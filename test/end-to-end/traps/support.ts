/** Makes the same call to carryover and native v1, and records what reaches v2. */
import { expect } from "vitest";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import type { ApiRequest, ApiResponse, HeaderList, Send } from "../../../src/model/http.ts";
import { type Json, type JsonObject, member } from "../../../src/model/json.ts";
import { createSignalController } from "../../../src/model/signal.ts";
import { frontOf } from "../../support/front.ts";
import { differences } from "../comparison/compare.ts";
import { createStoreComparison } from "../comparison/harness.ts";

const front = frontOf(await loadCatalogue("v2beta1"));
const { signal } = createSignalController();

/** What a client gets. */
export interface Answer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly text: string;
  /** Null when the text is no JSON. */
  readonly body: Json;
}

/** What reaches v2. */
export interface V2Call {
  readonly method: string;
  /** As on the wire, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly text: string;
  /** Null without one. */
  readonly body: Json;
}

/** `as`: a token's name as the sandbox knows it, or a token. */
type Ask = (method: string, target: string, body?: unknown, as?: string) => Promise<Answer>;

/** carryover in front of something that answers as v2. */
export interface Scripted {
  /** A v1 request; a text is sent as it is, anything else as JSON. */
  readonly ask: Ask;
  /** What the last `ask` sent. */
  readonly sent: readonly V2Call[];
}

/** Two sandboxes of one seed: native v1 of the first, carryover over v2 of the second. */
export interface Platform extends Scripted {
  readonly sandbox: Sandbox;
  readonly known: Sandbox["wellKnown"];
  readonly native: Ask;
  /** Asks both, wants no difference that a client could see, and gives carryover's answer. */
  readonly same: Ask;
  /** Logs the seeded person without rights in on both; a token that is good on both. */
  person(): Promise<string>;
  /** What the stores of the two differ in. */
  stores(): string[];
}

/** `answer`: what v2 answers to each call; an `ApiResponse`, or a body that goes with 200. */
export function scripted(answer: (call: V2Call) => unknown): Scripted {
  return carry(async (request) => {
    const made = answer(callOf(request));
    return isResponse(made) ? made : response(200, made as Json);
  });
}

/** `second`: further options of the sandbox behind carryover alone. */
export function platform(both: SandboxOptions = {}, second: SandboxOptions = {}): Platform {
  const clock = () => new Date("2026-03-01T08:00:00.000Z");
  const [first, sandbox] = [seededSandbox({ clock, ...both }), seededSandbox({ clock, ...both, ...second })];
  const carried = carry((request) => sandbox.send(request, { signal }), sandbox);
  const storeDifferences = createStoreComparison();
  const native: Ask = async (...call) => answerOf(await first.send(requestOf(first, call), { signal }));
  return {
    ...carried,
    get sent() {
      return carried.sent;
    },
    sandbox,
    known: sandbox.wellKnown,
    native,
    same: async (...call) => {
      const [left, right] = [await native(...call), await carried.ask(...call)];
      expect(differences(raw(left), raw(right)), `${call[0]} ${call[1]}`).toEqual([]);
      return right;
    },
    person: async () => {
      await logIn(first);
      return logIn(sandbox);
    },
    stores: () => storeDifferences(first.contents(), sandbox.contents()),
  };
}

/** An answer of v2. */
export function response(status: number, body: Json): ApiResponse {
  return { status, headers: [["content-type", "application/json"]], body: Buffer.from(JSON.stringify(body)) };
}

/** The records of a v1 list. */
export function items(answer: Answer): readonly JsonObject[] {
  const list = member(answer.body, "items");
  if (!Array.isArray(list)) throw new Error(`no list: ${answer.status} ${answer.text.slice(0, 300)}`);
  return list as JsonObject[];
}

/** Their ids, ascending. */
export const ids = (answer: Answer): readonly string[] =>
  items(answer)
    .map((item) => String(item["id"]))
    .toSorted();

/** A member behind dots: `oidc.issuer`. */
export function at(value: Json | undefined, path: string): Json | undefined {
  return path
    .split(".")
    .reduce<Json | undefined>((inner, name) => (inner === undefined ? inner : pick(inner, name)), value);
}

/** The fields that the mask of a PATCH names. */
export const maskOf = (call: V2Call | undefined): readonly string[] =>
  (call?.query.get("updateMask") ?? "").split(",").filter((name) => name !== "");

/** What an error is about: its status, and the reason of its ErrorInfo. */
export function refusal({ status, body }: Answer): readonly [number, Json | undefined] {
  const details = member(body, "details");
  const infos = Array.isArray(details) ? details.map((detail) => member(detail, "reason")) : [];
  return [status, infos.find((reason) => reason !== undefined)];
}

function pick(value: Json, name: string): Json | undefined {
  return Array.isArray(value) ? value[Number(name)] : member(value, name);
}

async function logIn(sandbox: Sandbox): Promise<string> {
  const target = `/sts/exchange?aud=sandbox&identity=${sandbox.wellKnown.visitor}`;
  const login = sandbox.oidcToken("https://login.example.com", "user|visitor");
  const headers: HeaderList = [["authorization", `Bearer ${login}`]];
  return String(member(answerOf(await sandbox.send({ method: "GET", target, headers }, { signal })).body, "token"));
}

function carry(v2: Send, sandbox?: Sandbox): Scripted {
  const sent: V2Call[] = [];
  const carrier = front((request, options) => {
    sent.push(callOf(request));
    return v2(request, options);
  });
  return {
    sent,
    ask: async (...call) => {
      sent.length = 0;
      return answerOf(await carrier(requestOf(sandbox, call)));
    },
  };
}

function requestOf(sandbox: Sandbox | undefined, [method, target, body, as = "admin"]: Parameters<Ask>): ApiRequest {
  const token = sandbox === undefined || as.includes(".") ? as : sandbox.token(as);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    method,
    target,
    headers: [["authorization", `Bearer ${token}`]],
    ...(text === undefined ? {} : { body: Buffer.from(text) }),
  };
}

function callOf({ method, target, body }: ApiRequest): V2Call {
  const [path = "", query = ""] = target.split("?");
  const text = Buffer.from(body ?? "").toString();
  return { method, path, query: new URLSearchParams(query), text, body: parsed(text) };
}

function answerOf({ status, headers, body }: ApiResponse): Answer {
  const text = Buffer.from(body).toString();
  return { status, headers, text, body: parsed(text) };
}

function raw({ status, headers, text }: Answer): ApiResponse {
  return { status, headers, body: Buffer.from(text) };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function isResponse(made: unknown): made is ApiResponse {
  return typeof made === "object" && made !== null && "status" in made && "headers" in made;
}
