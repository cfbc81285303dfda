/** Sends requests through a front and records the outcome of each. */
import { setTimeout as wait } from "node:timers/promises";
import { dial } from "../../server/support/client.ts";
import type { Chain } from "./fronts.ts";
import { isAnsweredH2 } from "./h2.ts";
import type { Hostile } from "./hostile.ts";
import type { Taken, Tap } from "./tap.ts";
import { readStream } from "./wire.ts";

export interface Outcome extends Hostile {
  /** The front said something of it before the client had enough. */ readonly answered: boolean;
  /** How many requests the front had written to carryover, and the platform had got, when it was over: all so far. */
  readonly written: number;
  readonly arrived: number;
  /** What another client got, right afterwards, for the target that it asked. */
  readonly next: { readonly target: string; readonly text: string };
}

/** Longer than a front, carryover and the platform take to answer; what is not answered by then waits for more bytes. */
const PATIENCE_MS = 400;
const QUIET_MS = 12;

/** Sends the requests one after another, each on a connection of its own, and behind each a plain one of another client. */
export async function send(chain: Chain, cases: readonly Hostile[]): Promise<Outcome[]> {
  const port = Number(new URL(chain.front.url).port);
  const h2Port = Number(new URL(chain.front.h2Url).port);
  const outcomes: Outcome[] = [];
  const places: Places = new Map();
  for (const [number, one] of cases.entries()) {
    const answered = await talk(one.h2 === true ? h2Port : port, one);
    const written = writtenSoFar(chain.tap, places);
    const arrived = chain.platform.requests.length;
    const target = `/next/${number}`;
    const client = await dial(port);
    client.send(`GET ${target} HTTP/1.1\r\nHost: next.example\r\nConnection: close\r\n\r\n`);
    outcomes.push({ ...one, answered, written, arrived, next: { target, text: await client.closed() } });
  }
  return outcomes;
}

/** Bytes to a front, and whether it closed or answered; false when it waits for more. */
async function talk(port: number, { bytes, h2 }: Hostile): Promise<boolean> {
  const client = await dial(port);
  client.send(bytes);
  const isAnswered = h2 === true ? isAnsweredH2 : isAnsweredH1;
  const over = client.closed().then(() => true);
  const began = performance.now();
  let answered = false;
  for (let seen = -1; !answered && performance.now() - began < PATIENCE_MS; ) {
    const closed = await Promise.race([over, wait(QUIET_MS, false)]);
    const text = client.text();
    answered = closed || (text.length === seen && isAnswered(text));
    seen = text.length;
  }
  client.leave();
  return answered;
}

function isAnsweredH1(text: string): boolean {
  return /^HTTP\/1\.[01] (?!100)\d/m.test(text);
}

/** How far each connection has been read, and how many requests that were. */
type Places = Map<Taken, { readonly end: number; readonly count: number }>;

function writtenSoFar({ connections }: Tap, places: Places): number {
  let sum = 0;
  for (const taken of connections) {
    const { end, count } = places.get(taken) ?? { end: 0, count: 0 };
    const more = readStream(taken.asked, end);
    places.set(taken, { end: more.end, count: count + more.requests.length });
    sum += count + more.requests.length;
  }
  return sum;
}

export interface Tally {
  readonly refusedThere: number;
  readonly refusedHere: number;
  readonly passed: number;
  /** Without an answer: the front waited for more bytes. */
  readonly unfinished: number;
}

/** How many were refused by the front, refused by carryover, passed on to the platform, or left unfinished. */
export function tally(outcomes: readonly Outcome[]): Tally {
  const counts = { refusedThere: 0, refusedHere: 0, passed: 0, unfinished: 0 };
  let written = 0;
  let arrived = 0;
  for (const outcome of outcomes) {
    if (outcome.arrived > arrived) counts.passed++;
    else if (outcome.written > written) counts.refusedHere++;
    else if (!outcome.answered) counts.unfinished++;
    else counts.refusedThere++;
    // With the plain request behind it.
    written = outcome.written + 1;
    arrived = outcome.arrived + 1;
  }
  return counts;
}
