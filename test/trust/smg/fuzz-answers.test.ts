import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Catalogue, loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { isJsonObject, type Json, member } from "../../../src/model/json.ts";
import type { Operation, Resource } from "../../../src/model/resource.ts";
import { POISON } from "../../fuzz/hostile.ts";
import { createPlatform, type Platform } from "../../fuzz/platform.ts";
import { message, requestsOf } from "../../fuzz/requests.ts";
import { BadAnswer, judgeAnswer, type Read, readAnswers } from "../../fuzz/strict-answers.ts";
import { dial } from "../../server/support/client.ts";
import { type Carryover, startCarryover } from "../../support/carryover.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

/** FUZZ_SEED=random tries others; any other text repeats a run. */
const asked = process.env["FUZZ_SEED"] ?? "20261122";
const seed = asked === "random" ? String(Date.now()) : asked;
/** Requests of each operation. */
const ROUNDS = Number(process.env["FUZZ_ROUNDS"] ?? scale(4, 1_600));
const PATIENCE_MS = 5_000;
const LANES = 20;

const catalogue: Catalogue = await loadCatalogue("v2beta1");
const operations = catalogue.resources.flatMap((resource) =>
  resource.operations.flatMap((operation) => (operation.kind === "native" ? [] : [{ resource, operation }])),
);

let platform: Platform;
let carryover: Carryover;
let port = 0;
let crashes = 0;
const crashed = () => crashes++;
beforeAll(async () => {
  process.on("uncaughtExceptionMonitor", crashed);
  platform = await createPlatform(catalogue, seed, 0.5);
  carryover = await startCarryover({
    v2Url: platform.url,
    flags: {
      limitsRequestSeconds: "2s",
      listsMaxSeconds: "1s",
      upstreamV2TimeoutsHeadersSeconds: "300ms",
      upstreamV2TimeoutsBodySeconds: "300ms",
      // What is tried is each answer, not how few calls a hostile platform can be spared.
      upstreamV2Breaker: "false",
    },
  });
  port = Number(new URL(carryover.url).port);
});
afterAll(async () => {
  await carryover.close();
  await platform.close();
  process.off("uncaughtExceptionMonitor", crashed);
});

/** One request on a connection of its own; throws BadAnswer for what no client may get. */
async function ask(resource: Resource, operation: Operation): Promise<Read> {
  const [first] = requestsOf(resource, operation);
  if (first === undefined) throw new Error(`${resource.name} ${operation.name}: no request`);
  const client = await dial(port);
  client.send(message(first.method, first.target, first.body).replace("\r\n", "\r\nConnection: close\r\n"));
  const timer = setTimeout(() => client.leave(), PATIENCE_MS);
  const text = await client.closed();
  clearTimeout(timer);
  if (text.includes(POISON)) throw new BadAnswer("bytes that belong to no answer were shown");
  if (text.includes(`:${platform.port}`)) throw new BadAnswer(`the upstream's address: ${text.slice(0, 400)}`);
  const [answer, ...more] = readAnswers(text, false, true);
  if (more.length > 0) throw new BadAnswer("two answers to one request");
  if (answer === undefined) {
    // A response that has begun is cut off, so that no client takes it for a whole one.
    if (text === "") throw new BadAnswer("neither an answer nor the beginning of one");
    return { status: 0, fields: [], body: "" };
  }
  judgeAnswer(answer, "anyone");
  judgeShape(answer, resource, operation, first.target);
  return answer;
}

/** A success is in v1's shape, and about what was asked for. */
function judgeShape({ status, body }: Read, resource: Resource, operation: Operation, target: string): void {
  if (status < 400 && status !== 200) throw new BadAnswer(`status ${status}`);
  if (status !== 200) return;
  const json = JSON.parse(Buffer.from(body, "latin1").toString()) as Json;
  const isBatch = "by" in operation && operation.by === "create-batch";
  if (!isJsonObject(json) && !isBatch) throw new BadAnswer(`no object: ${body.slice(0, 200)}`);
  if (operation.kind === "list" && !Array.isArray(member(json, "items"))) throw new BadAnswer("a list without items");
  if (operation.kind !== "get" && operation.kind !== "update") return;
  const uid = member(json, resource.key);
  if (uid !== target.split("/").slice(4).join("/")) throw new BadAnswer(`another record: ${JSON.stringify(uid)}`);
}

describe("whatever an upstream answers", () => {
  it(`T-SMG-33: every translated operation gives v1's answer or an error in v1's shape (FUZZ_SEED=${seed})`, {
    timeout: 900_000,
  }, async () => {
    const failures: string[] = [];
    const statuses = new Map<number, number>();
    let next = 0;
    const total = operations.length * ROUNDS;
    const work = async (): Promise<void> => {
      for (let at = next++; at < total && failures.length < 5; at = next++) {
        const one = operations[at % operations.length];
        if (one === undefined) return;
        try {
          const { status } = await ask(one.resource, one.operation);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        } catch (error) {
          if (!(error instanceof BadAnswer)) throw error;
          failures.push(`${one.resource.name} ${one.operation.name}: ${error.message}`);
        }
      }
    };
    await Promise.all(Array.from({ length: LANES }, work));
    console.log(
      `seed ${seed}: ${platform.hostile()} hostile answers, statuses ${JSON.stringify(Object.fromEntries(statuses))}`,
    );
    expect(failures).toEqual([]);
    expect(crashes).toBe(0);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    const share = (status: number) => (statuses.get(status) ?? 0) / total;
    expect([share(200) > 0.2, share(502) > 0.1]).toEqual([true, true]);
    // Nothing is held any more: no request, no list, no page, and, after seconds, no connection.
    await expect.poll(held).toEqual([0, 0, 0, 0]);
    if (ROUNDS > 100) await expect.poll(() => platform.open(), { timeout: 30_000 }).toBe(0);
    figure("T-SMG-33", "hostile answers of upstreams tried", platform.hostile(), "answers");
    figure("T-SMG-33", "crashes by hostile answers", crashes, "crashes");
  });
});

/** What the metrics say is under way. */
async function held(): Promise<readonly number[]> {
  const text = await (await fetch(`${carryover.adminUrl}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^carryover_${name} (\\d+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  return ["in_flight_requests", "lists_in_progress", "lists_waiting", "list_readers"].map(value);
}
