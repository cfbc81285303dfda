import { createListSharing, type ListSharing, type ListSharingOptions } from "../../src/drain/list-sharing.ts";
import { createExchange, type Exchange } from "../../src/model/exchange.ts";
import type { ClientResponse, HeaderList } from "../../src/model/http.ts";
import type { Plan, RequestHead, ResponsePlan } from "../../src/model/request.ts";
import { createSignalController, type Signal, type SignalController } from "../../src/model/signal.ts";

export const SECRET = Buffer.from("a secret of this process");
export const PROVED: HeaderList = [["carryover-list", "witness=cover; pages=1; records=1"]];
export const NO_BODY = new Uint8Array();

export function head(token: string | undefined, target = "/iam/v1/groups", more: HeaderList = []): RequestHead {
  const own: HeaderList = token === undefined ? [] : [["authorization", `Bearer ${token}`]];
  return { method: "GET", target, headers: [...own, ...more] };
}

export function list(text: string, more: HeaderList = []): ClientResponse {
  return { status: 200, headers: [...PROVED, ...more], body: Buffer.from(text) };
}

export function textOf({ body }: ClientResponse): string {
  return body instanceof Uint8Array ? Buffer.from(body).toString() : "a stream";
}

export function fieldOf(answer: ClientResponse, name: string): string | undefined {
  return answer.headers.find(([key]) => key === name)?.[1];
}

/** A work that the test ends. */
export interface Work {
  readonly signal: Signal;
  readonly head: RequestHead;
  readonly end: (answer: ClientResponse) => void;
  readonly fail: (error: unknown) => void;
}

/** A request on its way. */
export interface Sent {
  readonly answer: Promise<ClientResponse>;
  readonly exchange: Exchange;
  readonly client: SignalController;
}

export interface Rig {
  readonly share: ListSharing;
  /** Works in the order in which they began: one for each time that something was really made. */
  readonly works: Work[];
  /** Both clocks, milliseconds. */
  readonly clock: { ms: number };
  get(head: RequestHead, body?: Uint8Array): Sent;
  /** A write that passes through or is answered; it counts as under way until `over` is called with its exchange. */
  write(head: RequestHead): Exchange;
}

/** Sharing in front of works that the test ends by hand; everything that can be told apart is. */
export function rig(options: Partial<ListSharingOptions> = {}): Rig {
  const works: Work[] = [];
  const clock = { ms: 1_000_000 };
  const share = createListSharing({
    seconds: 5,
    bytes: 1024 * 1024,
    now: () => clock.ms,
    wall: () => clock.ms,
    secret: SECRET,
    origin: "https://platform.example",
    ruleVersion: "1",
    ...options,
  });
  const plan = (requested: RequestHead): ResponsePlan => ({
    kind: "answer",
    respond: (_body, signal) =>
      new Promise((end, fail) => {
        works.push({ signal, head: requested, end, fail });
        signal.addEventListener("abort", () => fail(signal.reason), { once: true });
      }),
  });
  const decide = (requested: RequestHead, exchange: Exchange): Plan => {
    const request = { ...requested, exchange };
    if (requested.method !== "GET")
      return share.share(request, { kind: "pass", upstream: "v2", target: requested.target });
    exchange.mode = "translate";
    exchange.operation = "list";
    return share.share(request, plan(requested));
  };
  return {
    share,
    works,
    clock,
    get(requested, body = NO_BODY) {
      const exchange = createExchange("id", 0, requested.method, requested.target);
      const client = createSignalController();
      const decided = decide(requested, exchange);
      if (decided.kind !== "answer") throw new Error("a GET that is not answered");
      const answer = decided.respond(body, client.signal);
      answer.catch(() => undefined);
      return { answer, exchange, client };
    },
    write(requested) {
      const exchange = createExchange("id", 0, requested.method, requested.target);
      decide({ ...requested, method: requested.method === "GET" ? "POST" : requested.method }, exchange);
      return exchange;
    },
  };
}

/** Lets everything go on that waits for nothing but its turn. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
