/** Keeps carryover busy for a long time and checks every response. */
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";

const CONNECTIONS = 64;
/** Requests under way beyond which no more are sent: the clients would only wait for themselves. */
const MOST_OPEN = 400;
const TICK_MS = 20;
const EXAMPLES = 10;

/**
 * A crowd of clients before `url` that send what `next` returns. `excused(began)`: whether a request that began then may fail, for the
 * platform was away since.
 */
export function createLoad(url, next, excused = () => false) {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  const counts = {
    sent: 0,
    answered: 0,
    faults: 0,
    cancelled: 0,
    looked: 0,
    foreign: 0,
    shed: 0,
    lists: 0,
    short: 0,
    unexpected: 0,
    excused: 0,
    withheld: 0,
  };
  const examples = [];
  let open = 0;

  const wrong = (request, what, began = performance.now()) => {
    if (excused(began)) {
      counts.excused += 1;
      return;
    }
    counts.unexpected += 1;
    if (examples.length < EXAMPLES) examples.push(`${request.kind}, ${request.fault}: ${what}`);
  };

  async function one() {
    const request = next();
    const began = performance.now();
    open += 1;
    counts.sent += 1;
    if (request.fault !== "ok" && request.fault !== "slow") counts.faults += 1;
    const controller = new AbortController();
    const leaving =
      request.leaveAfterMs === undefined ? undefined : setTimeout(() => controller.abort(), request.leaveAfterMs);
    try {
      const { method, path, headers, body = null } = request;
      const answer = await pool.request({ method, path, headers, body, signal: controller.signal });
      const text = await answer.body.text();
      counts.answered += 1;
      judge(request, answer.statusCode, text, began);
    } catch (error) {
      if (controller.signal.aborted) counts.cancelled += 1;
      else if (request.allowed.includes(0)) counts.answered += 1;
      else wrong(request, error.code ?? error.message, began);
    } finally {
      clearTimeout(leaving);
      open -= 1;
    }
  }

  function judge(request, status, text, began) {
    counts.looked += 1;
    for (const [, tenant] of text.matchAll(/tenant-(\d+)-/g)) {
      if (Number(tenant) === request.tenant) continue;
      counts.foreign += 1;
      wrong(request, `a record of tenant ${tenant} for tenant ${request.tenant}`);
      return;
    }
    // Who meant to leave and was answered before gets what everybody gets.
    const allowed = request.fault === "cancel" ? [200] : request.allowed;
    // An answer in its own right, but not at half of what fits: counted by itself.
    if (status === 503 && text.includes('"reason":"OVERLOADED"')) counts.shed += 1;
    else if (!allowed.includes(status)) return wrong(request, `${status} ${text.slice(0, 200)}`, began);
    if (status !== 200) return;
    const records = (text.match(/"id":/g) ?? []).length;
    const { stay } = request;
    const lost = stay === undefined ? 0 : stay.filter((id) => !text.includes(`/${id}"`)).length;
    if (request.records !== undefined || stay !== undefined) counts.lists += 1;
    if (lost > 0 || (request.records !== undefined && records !== request.records)) {
      counts.short += 1;
      wrong(request, lost > 0 ? `${lost} records lost that stayed` : `${records} records of ${request.records}`, began);
    }
    if (!text.includes(`tenant-${request.tenant}-`)) wrong(request, "an answer without a record", began);
  }

  /** As many as are answered, `clients` at a time, until `ms` are over; gives answers a second. */
  async function flatOut(ms, clients) {
    const started = performance.now();
    const before = counts.sent;
    const client = async () => {
      while (performance.now() - started < ms) await one();
    };
    await Promise.all(Array.from({ length: clients }, client));
    return ((counts.sent - before) * 1_000) / (performance.now() - started);
  }

  /** `rate` a second, evenly, until `ms` are over, whatever the answers do. */
  async function steady(ms, rate) {
    const started = performance.now();
    let due = 0;
    let begun = 0;
    while (performance.now() - started < ms) {
      due = Math.floor(((performance.now() - started) * rate) / 1_000);
      for (; begun < due; begun += 1) {
        if (open >= MOST_OPEN) counts.withheld += 1;
        else void one();
      }
      await sleep(TICK_MS);
    }
  }

  return {
    counts,
    examples,
    judge,
    flatOut,
    steady,
    /** Resolves when nothing is under way any more, and closes all connections. */
    end: async () => {
      while (open > 0) await sleep(TICK_MS);
      await pool.close();
    },
  };
}
