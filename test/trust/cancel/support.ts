/** A platform that leaves calls open, a client that leaves before it has its answer, and what must be true then. */
import { expect } from "vitest";
import type { Exchange } from "../../../src/model/exchange.ts";
import { dial } from "../../server/support/client.ts";
import { createDouble, type Double, type Recorded } from "../../server/support/double.ts";
import { startCarryover } from "../../support/carryover.ts";

/** What a call is answered: bytes, or bytes behind which more never comes; undefined: nothing ever. */
export type Reply = { readonly bytes: string; readonly unfinished?: true } | undefined;

export interface Stage {
  readonly url: string;
  readonly double: Double;
  readonly exchanges: readonly Exchange[];
  /** Calls that have no whole answer yet, and whose connection is still there. */
  open(): number;
  /** From now on. */
  answer(reply: (call: Recorded) => Reply): void;
  metrics(): Promise<string>;
  close(): Promise<void>;
}

/** carryover in front of a raw platform that is v2, native v1 and token exchange in one. */
export async function createStage(flags: Readonly<Record<string, string>> = {}): Promise<Stage> {
  let reply: (call: Recorded) => Reply = () => undefined;
  const open = new Set<object>();
  const double = await createDouble((call, socket) => {
    const told = reply(call);
    if (told !== undefined) socket.write(told.bytes);
    if (told !== undefined && told.unfinished === undefined) return;
    const entry = {};
    open.add(entry);
    socket.once("close", () => open.delete(entry));
  });
  const exchanges: Exchange[] = [];
  const carryover = await startCarryover({
    v2Url: double.url,
    v1Url: double.url,
    stsUrl: double.url,
    flags,
    onExchange: (exchange) => exchanges.push(exchange),
  });
  return {
    url: carryover.url,
    double,
    exchanges,
    open: () => open.size,
    answer: (given) => {
      reply = given;
    },
    metrics: async () => (await fetch(`${carryover.adminUrl}/metrics`)).text(),
    close: async () => {
      await carryover.close();
      await double.close();
    },
  };
}

export interface Leaving {
  readonly method: string;
  readonly target: string;
  readonly body?: string | undefined;
  /** Calls that the platform must have before the client leaves. */
  readonly after: number;
  /** What the client must have received before, if anything. */
  readonly got?: string;
  /** Must be true before the client leaves. */
  readonly hold?: () => boolean;
}

/** Asks, waits for the calls, leaves; then every call is gone, none follows, and the request has one end. */
export async function leave(stage: Stage, { method, target, body, after, got, hold }: Leaving): Promise<void> {
  const { double, exchanges } = stage;
  const [calls, ended] = [double.requests.length, exchanges.length];
  const client = await dial(Number(new URL(stage.url).port));
  const length = body === undefined ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  client.send(`${method} ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer abc\r\n${length}\r\n`);
  if (body !== undefined) client.socket.write(body);
  await double.until(() => double.requests.length >= calls + after);
  if (got !== undefined) await client.until((text) => text.includes(got));
  if (hold !== undefined) await until(hold);
  const others = hold === undefined ? 0 : stage.open();
  client.leave();
  await double.until(() => stage.open() <= others);
  await until(() => exchanges.length === ended + 1);
  const made = double.requests.length;
  // A call that followed would come at once.
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(double.requests.slice(made).map(({ line }) => line)).toEqual([]);
  expect(exchanges.slice(ended)).toMatchObject([
    { aborted: true, reason: undefined, status: got === undefined ? 499 : 200 },
  ]);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}
