import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createListSharing, MOST_SECONDS } from "../../src/drain/list-sharing.ts";
import { createExchange, type Exchange } from "../../src/model/exchange.ts";
import type { ClientResponse } from "../../src/model/http.ts";
import { createSignalController, type Signal, type SignalController } from "../../src/model/signal.ts";
import { scale } from "../support/scale.ts";
import { variants } from "../support/tier.ts";
import { fieldOf, head, list, NO_BODY, SECRET, settle } from "./support.ts";

const PASS = { kind: "pass", upstream: "v2", target: "/x" } as const;
const TENANTS = 12;
const TARGETS = ["/iam/v1/groups", "/iam/v1/roles", "/iam/v1/groups?name=x"];
const BYTES = 60_000;
const OPERATIONS = 2500;
const RUNS = variants(5, scale(15, 40));

/** What the platform said, to whom, of what and when: in the body of every answer, so that nothing can be mixed up. */
interface Told {
  readonly tenant: number;
  readonly target: string;
  readonly request: number;
  readonly readAt: number;
  readonly written: number;
}

interface Request {
  readonly id: number;
  readonly tenant: number;
  readonly target: string;
  readonly askedAt: number;
  /** Writes of its own that had ended when it asked. */
  readonly written: number;
  readonly client: SignalController;
  readonly exchange: Exchange;
  left: boolean;
  over: boolean;
  /** The signal of the work that was begun for it, if one was. */
  work: Signal | undefined;
}

interface Work {
  readonly request: Request;
  readonly end: (kind: number) => void;
  over: boolean;
}

/** One world: tenants who read and write, a platform that answers when it likes, clients who leave. */
class World {
  readonly clock = { ms: 1_000_000 };
  readonly requests: Request[] = [];
  readonly works: Work[] = [];
  readonly writes: { readonly tenant: number; readonly exchange: Exchange }[] = [];
  readonly pending: Promise<void>[] = [];
  readonly faults: unknown[] = [];
  readonly written = new Array<number>(TENANTS).fill(0);
  readonly shared = { kept: 0, collapsed: 0, own: 0, failed: 0 };
  readonly ends: readonly number[];
  readonly seconds: number;
  readonly share;
  readonly #next: (below: number) => number;

  constructor(seed: number) {
    let state = seed;
    this.#next = (below) => {
      state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
      return (Math.imul(state ^ (state >>> 13), 0x297a2d39) >>> 0) % below;
    };
    this.seconds = this.#next(2) === 0 ? 1 : MOST_SECONDS;
    const end = (i: number) => (i % 4 === 0 ? this.clock.ms / 1000 + 5 + this.#next(60) : Number.POSITIVE_INFINITY);
    this.ends = Array.from({ length: TENANTS }, (_, i) => end(i));
    this.share = createListSharing({
      seconds: this.seconds,
      bytes: BYTES,
      now: () => this.clock.ms,
      wall: () => this.clock.ms,
      secret: SECRET,
      origin: "https://platform.example",
      ruleVersion: "1",
    });
  }

  tokenOf(tenant: number): string {
    const exp = this.ends[tenant] ?? 0;
    const claims = Buffer.from(JSON.stringify(Number.isFinite(exp) ? { exp } : {})).toString("base64url");
    return `t${tenant}.${claims}.x`;
  }

  get(): void {
    const tenant = this.#next(TENANTS);
    const target = TARGETS[this.#next(TARGETS.length)] ?? "";
    const id = this.requests.length;
    const request: Request = {
      id,
      tenant,
      target,
      askedAt: this.clock.ms,
      written: this.written[tenant] ?? 0,
      client: createSignalController(),
      exchange: createExchange(String(id), 0, "GET", target),
      left: false,
      over: false,
      work: undefined,
    };
    this.requests.push(request);
    request.exchange.mode = "translate";
    request.exchange.operation = "list";
    const plan = this.share.share(
      { ...head(this.tokenOf(tenant), target), exchange: request.exchange },
      { kind: "answer", respond: (_body, signal) => this.#make(request, signal) },
    );
    if (plan.kind !== "answer") throw new Error("not answered");
    this.pending.push(this.#watch(request, plan.respond(NO_BODY, request.client.signal)));
  }

  /** The platform reads at once what is written by then, and answers when the world says so. */
  #make(request: Request, signal: Signal): Promise<ClientResponse> {
    const { tenant, target, id } = request;
    request.work = signal;
    const told: Told = { tenant, target, request: id, readAt: this.clock.ms, written: this.written[tenant] ?? 0 };
    return new Promise((resolve, reject) => {
      const work: Work = {
        request,
        over: false,
        end: (kind) => {
          if (work.over) return;
          work.over = true;
          const answer = list(JSON.stringify(told).padEnd(200 + 40 * (id % 100)));
          if (kind === 0) reject(new Error(String(id)));
          else if (kind === 1) resolve({ ...answer, status: 503 });
          else if (kind === 2) resolve({ ...answer, headers: [...answer.headers, ["set-cookie", String(id)]] });
          else if (kind === 3) resolve({ ...answer, body: pieces(answer.body as Uint8Array) });
          else resolve(answer);
        },
      };
      this.works.push(work);
      signal.addEventListener(
        "abort",
        () => {
          work.over = true;
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  async #watch(request: Request, answering: Promise<ClientResponse>): Promise<void> {
    const outcome = await answering.catch((error: unknown) => error as Error);
    request.over = true;
    try {
      if (!(outcome instanceof Error)) this.#check(request, outcome);
      // A failure is its own: that of the work that was begun for it.
      else if (!request.left) expect(outcome.message).toBe(String(request.id));
      if (outcome instanceof Error) this.shared.failed += 1;
    } catch (fault) {
      this.faults.push(fault);
    }
  }

  #check(request: Request, { status, headers, body }: ClientResponse): void {
    const bytes = body instanceof Uint8Array ? body : (body as Pieces).bytes;
    const told = JSON.parse(Buffer.from(bytes).toString()) as Told;
    expect(told.tenant).toBe(request.tenant);
    expect(told.target).toBe(request.target);
    expect(told.written).toBeGreaterThanOrEqual(request.written);
    const [note] = request.exchange.notes;
    this.shared[note === "list-shared" ? "kept" : note === "list-collapsed" ? "collapsed" : "own"] += 1;
    if (note === undefined) {
      expect(told.request).toBe(request.id);
      return;
    }
    expect([status, fieldOf({ status, headers, body }, "set-cookie"), body instanceof Uint8Array]).toEqual([
      200,
      undefined,
      true,
    ]);
    const seconds = note === "list-shared" ? this.seconds : MOST_SECONDS;
    expect(request.askedAt - told.readAt).toBeLessThan(seconds * 1000);
    expect(request.askedAt / 1000).toBeLessThan(this.ends[request.tenant] ?? 0);
    expect(Number(fieldOf({ status, headers, body }, "age")) * 1000).toBeGreaterThanOrEqual(
      request.askedAt - told.readAt,
    );
  }

  beginWrite(): void {
    const tenant = this.#next(TENANTS);
    const exchange = createExchange("w", 0, "PUT", "/x");
    this.share.share({ ...head(this.tokenOf(tenant), "/x"), method: "PUT", exchange }, PASS);
    this.writes.push({ tenant, exchange });
  }

  endWrite(): void {
    const [write] = this.writes.splice(this.#next(Math.max(1, this.writes.length)), 1);
    if (write === undefined) return;
    this.written[write.tenant] = (this.written[write.tenant] ?? 0) + 1;
    this.share.over(write.exchange);
  }

  leave(): void {
    const waiting = this.requests.slice(-40).filter(({ over, left }) => !over && !left);
    const request = waiting[this.#next(Math.max(1, waiting.length))];
    if (request === undefined) return;
    request.left = true;
    request.client.abort(new Error("left"));
  }

  endWork(): void {
    const open = this.works.slice(-60).filter(({ over }) => !over);
    open[this.#next(Math.max(1, open.length))]?.end(this.#next(16));
  }

  async step(): Promise<void> {
    const chance = this.#next(100);
    if (chance < 42) this.get();
    else if (chance < 72) this.endWork();
    else if (chance < 79) this.beginWrite();
    else if (chance < 88) this.endWrite();
    else if (chance < 93) this.leave();
    else this.clock.ms += this.#next(600);
    if (this.#next(3) === 0) await settle();
    for (const fault of this.faults) throw fault;
    expect(this.share.usage().bytes).toBeLessThanOrEqual(BYTES);
  }

  /** Everybody gets an answer or leaves, every write ends, time goes on. */
  async finish(): Promise<void> {
    while (this.writes.length > 0) this.endWrite();
    for (let open = this.works.filter(({ over }) => !over); open.length > 0; ) {
      for (const work of open) work.end(9);
      await settle();
      open = this.works.filter(({ over }) => !over);
    }
    await Promise.all(this.pending);
    for (const fault of this.faults) throw fault;
  }
}

type Pieces = AsyncIterable<Uint8Array> & { readonly bytes: Uint8Array };

function pieces(bytes: Uint8Array): Pieces {
  return {
    bytes,
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: true, value: undefined }),
      return: async () => ({ done: true, value: undefined }),
    }),
  };
}

describe("many tenants who read, write and leave at the same time", () => {
  it("T-ISO-01, K1 to K9: each gets only its own, nothing old, nothing from before its last write, and nothing stays behind", async () => {
    const sum = { kept: 0, collapsed: 0, own: 0, failed: 0 };
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const world = new World(seed);
        for (let i = 0; i < OPERATIONS; i++) await world.step();
        await world.finish();
        // No request waits for work that is not running, and no work runs without a waiting request.
        expect(world.requests.filter(({ over, left }) => !over && !left)).toEqual([]);
        const { lists, works, credentials, writers } = world.share.usage();
        expect(credentials).toBeLessThanOrEqual(lists);
        expect([works, writers]).toEqual([0, 0]);
        // What is kept goes with the next write of its credential.
        for (let tenant = 0; tenant < TENANTS; tenant++) {
          const exchange = createExchange("w", 0, "PUT", "/x");
          world.share.share({ ...head(world.tokenOf(tenant)), method: "PUT", exchange }, PASS);
          world.share.over(exchange);
        }
        expect(world.share.usage()).toEqual({ lists: 0, bytes: 0, works: 0, credentials: 0, writers: 0 });
        for (const key of ["kept", "collapsed", "own", "failed"] as const) sum[key] += world.shared[key];
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    // Enough of everything has happened for this to mean something.
    for (const count of Object.values(sum)) expect(count).toBeGreaterThan(12 * RUNS);
  }, 120_000);
});
