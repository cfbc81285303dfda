/** Runs a shadow beside a platform in memory that records every call to v2. */
import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import type { Comparison } from "../../src/model/comparison.ts";
import { createExchange } from "../../src/model/exchange.ts";
import type { ApiRequest, ApiResponse, ClientResponse, Send } from "../../src/model/http.ts";
import type { OperationMatch } from "../../src/model/request.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { createRouter, type Router } from "../../src/router/router.ts";
import type { ComparisonRequest, ShadowOptions, TranslateInShadow } from "../../src/shadow/request.ts";
import { createShadow, type Shadow } from "../../src/shadow/shadow.ts";
import type { TranslateOptions } from "../../src/translate/operation.ts";
import { readingTools } from "../support/drains.ts";
import { sharedCatalogue, sharedTranslations } from "../support/shared.ts";
import { gathered } from "../support/whole.ts";
import { type FakeClock, fakeClock, settled } from "../upstream/clock.ts";

/** What a test may have otherwise. */
export interface RigOptions extends Partial<Omit<ShadowOptions, "limits" | "native">> {
  readonly limits?: Partial<ShadowOptions["limits"]>;
  /** Native v1 when it is asked a second time; default: `platform`. */
  readonly native?: Send;
  readonly translation?: Partial<TranslateOptions>;
  readonly catalogue?: Catalogue;
}

export interface Rig {
  readonly shadow: Shadow;
  readonly clock: FakeClock;
  readonly reports: Comparison[];
  /** Calls that reached v2. */
  readonly v2: ApiRequest[];
  /** Calls to native beside those of clients. */
  readonly v1: ApiRequest[];
  ask(request: ApiRequest, more?: Partial<ComparisonRequest>): ComparisonRequest;
  /** The request through native v1, watched as the listener does. */
  pass(request: ApiRequest, more?: Partial<ComparisonRequest>): Promise<ApiResponse>;
  /** The translated answer, followed. */
  follow(request: ApiRequest, more?: Partial<ComparisonRequest>): Promise<ClientResponse>;
  /** Until nothing is under way. */
  idle(): Promise<void>;
}

const LIMITS = { concurrent: 4, answerBytes: 2 ** 22, memoryBytes: 2 ** 26, seconds: 20 };
const { signal } = createSignalController();
const EMPTY = new Uint8Array(0);

/** `platform` serves both versions. */
export async function createRig(platform: Send, options: RigOptions = {}): Promise<Rig> {
  const catalogue = options.catalogue ?? (await sharedCatalogue("v2beta1"));
  const { resources, natives, version } = catalogue;
  const route = createRouter({ resources, natives, version, extraPrefixes: [] });
  const clock = fakeClock();
  const [reports, v1, v2]: [Comparison[], ApiRequest[], ApiRequest[]] = [[], [], []];
  const toV2: Send = (request, sending) => {
    v2.push(request);
    return platform(request, sending);
  };
  const toV1 = options.native ?? platform;
  const translate = options.translate ?? translator(catalogue, toV2, options.translation);
  const shadow = createShadow({
    report: (comparison) => reports.push(comparison),
    samples: { perOperation: 20, values: "redact" },
    now: clock.now,
    wall: () => clock.now(),
    random: () => 0.5,
    later: clock.later,
    turn: settled,
    ownerOf: ({ client }) => client,
    ...options,
    native: (request, sending) => {
      v1.push(request);
      return toV1(request, sending);
    },
    translate,
    limits: { ...LIMITS, ...options.limits },
  });
  const ask: Rig["ask"] = ({ method, target, headers }, more = {}) => ({
    match: matchOf(route, method, target),
    head: { method, target, headers },
    client: "ci",
    rule: undefined,
    settings: { sample: 1, control: 0 },
    requestId: "r1",
    write: method !== "GET",
    ...more,
  });
  return {
    shadow,
    clock,
    reports,
    v1,
    v2,
    ask,
    async pass(request, more) {
      const answer = await platform(request, { signal });
      if (isOperation(route, request)) play(shadow.watch(ask(request, more)), request, answer);
      return answer;
    },
    async follow(request, more) {
      const asked = ask(request, more);
      const body = request.body ?? EMPTY;
      const { answer } = await translate({ match: asked.match, head: asked.head, body }, (next) => next, signal);
      return shadow.follow(asked, answer);
    },
    async idle() {
      for (let turns = 0; turns < 10_000; turns++) {
        const { running, waiting } = shadow.state();
        if (running + waiting === 0) return;
        // What runs on another thread needs more than turns.
        await (turns < 1_000 ? settled() : new Promise((resolve) => setTimeout(resolve, 1)));
      }
      throw new Error("a comparison does not end");
    },
  };
}

/** Lets `answer` go by, in pieces of a buffer that is used again. */
export function play(watch: ReturnType<Shadow["watch"]>, request: ApiRequest, answer: ApiResponse, whole = true): void {
  if (watch === undefined) return;
  const buffer = Buffer.alloc(700);
  const pieces = (bytes: Uint8Array, tell: (chunk: Uint8Array) => void): void => {
    for (let at = 0; at < bytes.length; at += buffer.length) {
      const length = Math.min(buffer.length, bytes.length - at);
      buffer.set(bytes.subarray(at, at + length));
      tell(buffer.subarray(0, length));
      buffer.fill(0x2e);
    }
  };
  pieces(request.body ?? EMPTY, watch.sent);
  watch.head(
    answer.status,
    answer.headers.map(([name, value]) => [name, value, name.toUpperCase()]),
  );
  pieces(answer.body, watch.data);
  watch.over(whole);
}

function matchOf(route: Router, method: string, target: string): OperationMatch {
  const routed = route(method, target);
  if (routed.kind !== "match") throw new Error(`${method} ${target} is no operation`);
  return routed.match;
}

/** False for what carryover passes on unwatched, or refuses itself. */
function isOperation(route: Router, { method, target }: ApiRequest): boolean {
  try {
    return route(method, target).kind === "match";
  } catch {
    return false;
  }
}

/** Translations as carryover runs them, around `send`. */
function translator(
  { resources, version }: Catalogue,
  send: Send,
  options: Partial<TranslateOptions> = {},
): TranslateInShadow {
  const translations = sharedTranslations(resources, {
    version,
    unknownRequest: "drop",
    unknownResponse: "pass",
    insertZeros: true,
    mismatch: "zeros",
    ...options,
  });
  return async ({ match, head, body }, layer, stop) => {
    const translation = translations.get(match.operation);
    if (translation === undefined) throw new Error(`no translation of ${match.operation.name}`);
    const exchange = createExchange("s", 0, head.method, head.target);
    const tools = { ...readingTools(layer(send), { signal: stop }), exchange };
    const mask = { known: "camelCase", fixed: true, learn: () => {} } as const;
    const answer = await translation({ match, headers: head.headers, body }, { ...tools, mask, bodyMask: mask });
    return { answer, exchange };
  };
}

/** A JSON answer. */
export function json(status: number, body: unknown, headers: ApiResponse["headers"] = []): ApiResponse {
  return {
    status,
    headers: [["content-type", "application/json"], ...headers],
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  };
}

export { gathered, settled };
