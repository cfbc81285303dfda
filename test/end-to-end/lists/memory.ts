/** carryover without a network, with all its options: for thousands of lists. */
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { type Config, loadConfig } from "../../../src/config/config.ts";
import { TIME } from "../../../src/model/clock.ts";
import { createExchange, type ListFacts } from "../../../src/model/exchange.ts";
import type { ClientResponse, Send } from "../../../src/model/http.ts";
import { Problem, problemBody } from "../../../src/model/problem.ts";
import { createSignalController } from "../../../src/model/signal.ts";
import { createToolbox, type Toolbox } from "../../../src/runtime/calls.ts";
import { createDecisions, type Decisions } from "../../../src/runtime/proxy.ts";
import { createRetryBudget } from "../../../src/upstream/retry.ts";
import { headersOf } from "./client.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";

/** One list, and what the operator sees of it. */
export interface Listed {
  readonly outcome: Outcome;
  readonly facts: ListFacts | undefined;
}

export interface Lister {
  list(as: string, target: string): Promise<Listed>;
  /** What lists take up at present. */
  readonly lists: Toolbox["lists"];
  readonly calls: Toolbox["calls"];
}

/** What does not change while lists are read; making it takes longer than most lists. */
const settled = new Map<string, Promise<{ readonly config: Config; readonly decisions: Decisions }>>();

async function settle(flags: Readonly<Record<string, string>>) {
  const { config } = loadConfig({
    flags: { upstreamV2Url: "http://127.0.0.1:1", ...flags },
    env: {},
    readFile: () => new Uint8Array(),
  });
  return { config, decisions: createDecisions(config, await loadCatalogue(config.upstream.v2.version)) };
}

/** `flags`: options as flags. */
export async function createLister(send: Send, flags: Readonly<Record<string, string>> = {}): Promise<Lister> {
  const key = JSON.stringify(flags);
  const making = settled.get(key) ?? settle(flags);
  settled.set(key, making);
  const { config, decisions } = await making;
  const { tools, lists, calls } = createToolbox(config, { send, budget: createRetryBudget() });
  const list: Lister["list"] = async (as, target) => {
    const headers = Object.entries(headersOf({ as }));
    const { signal } = createSignalController();
    const exchange = createExchange("list", TIME.now(), "GET", target);
    const head = { method: "GET", target, headers };
    const { decide } = decisions.proxy((asked) => tools(asked, signal));
    const got = await gotOf(async () => {
      const plan = decide({ ...head, exchange });
      if (plan.kind !== "answer") throw new Error("no list");
      return plan.respond(new Uint8Array(), signal);
    });
    return { outcome: outcomeOf(got, as), facts: exchange.list };
  };
  return { list, lists, calls };
}

/** A response as a client has it at its end: a stream that fails is one that broke off. */
async function gotOf(respond: () => Promise<ClientResponse>): Promise<Parameters<typeof outcomeOf>[0]> {
  try {
    const { status, headers, body } = await respond();
    const fields = new Map(headers.map(([name, value]) => [name, value]));
    if (body instanceof Uint8Array) {
      fields.set("content-length", String(body.length));
      return { status, fields, text: Buffer.from(body).toString("utf8"), complete: true };
    }
    const pieces: Uint8Array[] = [];
    const complete = await takeAll(body, pieces);
    return { status, fields, text: Buffer.concat(pieces).toString("utf8"), complete };
  } catch (error) {
    const problem = Problem.from(error);
    return { status: problem.http, fields: new Map(), text: problemBody(problem), complete: true };
  }
}

async function takeAll(body: AsyncIterable<Uint8Array>, pieces: Uint8Array[]): Promise<boolean> {
  try {
    for await (const piece of body) pieces.push(piece);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}
