/** The real carryover before a sandbox, on loopback, and everything there is to see of what it does. */
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { recordingSandbox } from "../../../sandbox/test/seeded.ts";
import type { Exchange } from "../../../src/model/exchange.ts";
import type { ApiRequest, ApiResponse } from "../../../src/model/http.ts";
import { createDouble, type Double, type Script } from "../../server/support/double.ts";
import { startCarryover } from "../../support/carryover.ts";
import { later } from "../../support/take-down.ts";
import { exchange } from "../comparison/http.ts";

export { later, listening, takeDownAfterAll, takeDownAfterEach } from "../../support/take-down.ts";

export interface Ask {
  /** A token's name as the sandbox knows it; `admin` when left out, `null` for no Authorization at all. */
  readonly as?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string goes out as it is. */
  readonly body?: string | Uint8Array | object;
}

export interface Answer extends ApiResponse {
  readonly text: string;
  /** The body as JSON; throws when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: any;
  /** The first value of a field (lower case). */
  field(name: string): string | undefined;
}

export interface Rig {
  readonly sandbox: Sandbox;
  readonly sandboxUrl: string;
  readonly url: string;
  readonly adminUrl: string;
  /** Everything that arrived at the platform, with headers and bodies. */
  readonly arrived: ApiRequest[];
  /** One per request that is over. */
  readonly exchanges: Exchange[];
  readonly lines: string[];
  /** Sends `target` byte for byte. */
  ask(method: string, target: string, ask?: Ask): Promise<Answer>;
  close(): Promise<void>;
}

export interface Choices {
  readonly sandbox?: SandboxOptions;
  /** Options as flags. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Also as native v1 and for token exchange; default true. */
  readonly native?: boolean;
  /** Serves v2 instead of the sandbox. */
  readonly v2Url?: string;
  /** Milliseconds between two looks at the rules file. */
  readonly reloadMs?: number;
}

/** `rig`, taken down after the test. */
export async function rigForTest(choices: Choices = {}): Promise<Rig> {
  const made = await rig(choices);
  later(made.close);
  return made;
}

/** One rig for all tests of the file (or of the describe block); what it has seen is forgotten before each of them. */
export function sharedRig(choices: Choices | (() => Promise<Choices>) = {}): () => Rig {
  let shared: Rig | undefined;
  const made = (): Rig => {
    if (shared === undefined) throw new Error("the rig is there when tests run");
    return shared;
  };
  beforeAll(async () => {
    shared = await rig(typeof choices === "function" ? await choices() : choices);
  });
  beforeEach(() => forget(made()));
  afterAll(() => shared?.close());
  return made;
}

function forget({ arrived, exchanges, lines }: Rig): void {
  for (const seen of [arrived, exchanges, lines]) seen.length = 0;
}

/** A platform that does what the last call of the returned function says, with one carryover in front, for all tests of the file. */
export function scripted(
  flags: Readonly<Record<string, string>> = {},
): (script: Script) => { readonly rig: Rig; readonly double: Double } {
  const platform: { script: Script; double?: Double } = { script: "" };
  const shared = sharedRig(async () => {
    platform.double = await createDouble((request, socket, index) => {
      if (typeof platform.script === "function") platform.script(request, socket, index);
      else socket.write(platform.script);
    });
    return { v2Url: platform.double.url, native: false, flags };
  });
  afterAll(() => platform.double?.close());
  return (script) => {
    const { double } = platform;
    if (double === undefined) throw new Error("the platform is there when tests run");
    platform.script = script;
    double.requests.length = 0;
    forget(shared());
    return { rig: shared(), double };
  };
}

export async function rig(choices: Choices = {}): Promise<Rig> {
  const exchanges: Exchange[] = [];
  const lines: string[] = [];
  const { sandbox, arrived } = recordingSandbox(choices.sandbox);
  const { url: sandboxUrl } = await sandbox.listen();
  const native = choices.native === false ? {} : { v1Url: sandboxUrl, stsUrl: sandboxUrl };
  const carryover = await startCarryover({
    v2Url: choices.v2Url ?? sandboxUrl,
    ...native,
    ...(choices.flags === undefined ? {} : { flags: choices.flags }),
    ...(choices.reloadMs === undefined ? {} : { reloadMs: choices.reloadMs }),
    logLine: (line) => lines.push(line),
    onExchange: (one) => exchanges.push(one),
  });
  return {
    sandbox,
    sandboxUrl,
    url: carryover.url,
    adminUrl: carryover.adminUrl,
    arrived,
    exchanges,
    lines,
    ask: (method, target, ask = {}) => send(carryover.url, sandbox, method, target, ask),
    close: async () => {
      await carryover.close();
      await sandbox.close();
    },
  };
}

/** Sends `target` byte for byte. */
export async function send(url: string, sandbox: Sandbox, method: string, target: string, ask: Ask): Promise<Answer> {
  const { as = "admin", headers, body } = ask;
  const authorization = as === null ? {} : { authorization: `Bearer ${sandbox.token(as)}` };
  const bytes =
    body === undefined || body instanceof Uint8Array
      ? body
      : new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
  return answerOf(await exchange({ method, url, target, headers: { ...authorization, ...headers }, body: bytes }));
}

function answerOf(response: ApiResponse): Answer {
  const text = new TextDecoder().decode(response.body);
  return {
    ...response,
    text,
    get json() {
      return JSON.parse(text);
    },
    field: (name) => response.headers.find(([key]) => key === name)?.[1],
  };
}

/** The reason of carryover's own error in `answer`; undefined for any other body. */
export function reasonOf(answer: Answer): string | undefined {
  const detail = answer.json.details?.find((one: { domain?: string }) => one.domain === "carryover");
  return detail?.reason;
}
