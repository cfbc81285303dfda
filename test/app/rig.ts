/** The real carryover before a sandbox, on loopback, and everything there is to see of what it does. */
import { afterEach } from "vitest";
import type { Exchange } from "../../src/model/exchange.ts";
import type { ApiRequest, ApiResponse } from "../../src/model/message.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { createSandbox, type Sandbox } from "../../src/sandbox/sandbox.ts";
import { exchange } from "../comparison/http.ts";
import { startCarryover } from "../support/carryover.ts";

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
}

const closers: (() => Promise<void>)[] = [];

/** To be called at the top of a test file: everything built is taken down after each test. */
export function takeDownAfterEach(): void {
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
}

/** Runs `close` after the test. */
export function later(close: () => Promise<void>): void {
  closers.push(close);
}

/** `rig`, taken down after the test. */
export async function rigForTest(choices: Choices = {}): Promise<Rig> {
  const made = await rig(choices);
  later(made.close);
  return made;
}

export async function rig(choices: Choices = {}): Promise<Rig> {
  const arrived: ApiRequest[] = [];
  const exchanges: Exchange[] = [];
  const lines: string[] = [];
  const { faults } = choices.sandbox ?? {};
  const sandbox = createSandbox({
    ...choices.sandbox,
    faults: (next) => {
      const faulty = faults === undefined ? next : faults(next);
      return (request, options) => {
        arrived.push(request);
        return faulty(request, options);
      };
    },
  });
  const { url: sandboxUrl } = await sandbox.listen();
  const native = choices.native === false ? {} : { v1Url: sandboxUrl, stsUrl: sandboxUrl };
  const carryover = await startCarryover({
    v2Url: choices.v2Url ?? sandboxUrl,
    ...native,
    ...(choices.flags === undefined ? {} : { flags: choices.flags }),
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

async function send(url: string, sandbox: Sandbox, method: string, target: string, ask: Ask): Promise<Answer> {
  const { as = "admin", headers, body } = ask;
  const authorization = as === null ? {} : { authorization: `Bearer ${sandbox.token(as)}` };
  const bytes = bytesOf(body);
  return answerOf(await exchange({ method, url, target, headers: { ...authorization, ...headers }, body: bytes }));
}

function bytesOf(body: Ask["body"]): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}

export function answerOf(response: ApiResponse): Answer {
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
