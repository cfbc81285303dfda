/** A write takes effect once, however the platform breaks off after its first byte. */
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { ok } from "../../server/support/double.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { type Front, front, reasonOf } from "../smg/front.ts";

takeDownAfterEach();

/** What becomes of a write that has arrived, and has been done. */
const BREAKS: readonly (readonly [name: string, end: (socket: Socket, good: string) => void])[] = [
  ["a reset", (socket) => socket.resetAndDestroy()],
  ["an end without an answer", (socket) => socket.end()],
  ["half a head, then a reset", (socket, good) => socket.write(good.slice(0, 25), () => socket.resetAndDestroy())],
  ["half a body, then an end", (socket, good) => socket.end(good.slice(0, -4))],
  ["a reset a little later", (socket) => setTimeout(() => socket.resetAndDestroy(), 5)],
];

interface Kind {
  readonly method: string;
  /** The path of the write that belongs to the `nth` request. */
  readonly target: (nth: number) => string;
  readonly body?: (nth: number) => object;
}

const uid = (nth: number) => `ab/${nth.toString(16).padStart(8, "0")}`;
/** Translated, and passed through. */
const KINDS: readonly Kind[] = [
  { method: "PUT", target: (nth) => `/iam/v1/groups/${uid(nth)}`, body: (nth) => ({ name: `n${nth}` }) },
  { method: "POST", target: (nth) => `/iam/v1/groups/${uid(nth)}`, body: (nth) => ({ name: `n${nth}` }) },
  { method: "DELETE", target: (nth) => `/iam/v1/groups/${uid(nth)}` },
  {
    method: "PATCH",
    target: (nth) => `/iam/v2beta1/groups/${uid(nth)}?updateMask=name`,
    body: (nth) => ({ name: `n${nth}` }),
  },
  { method: "POST", target: (nth) => `/iam/v2beta1/groups/${uid(nth)}`, body: (nth) => ({ name: `n${nth}` }) },
  { method: "DELETE", target: (nth) => `/iam/v2beta1/groups/${uid(nth)}` },
];

/** A platform that counts what it does, by uid, and then breaks off in one of these ways; or answers, where `broken` says so. */
async function counting(broken: (nth: number) => boolean, flags: Readonly<Record<string, string>> = {}) {
  const effects = new Map<string, number>();
  const here = await front(
    ({ line, body }, socket, index) => {
      const id = /groups\/(ab\/[0-9a-f]{8})/.exec(line)?.[1] ?? line;
      effects.set(id, (effects.get(id) ?? 0) + 1);
      const sent = body.length === 0 ? {} : JSON.parse(String(body));
      const good = ok(JSON.stringify({ uid: line.startsWith("POST") ? `${id}/cd` : id, description: "", ...sent }));
      if (broken(index)) BREAKS[index % BREAKS.length]?.[1](socket, good);
      else socket.write(good);
    },
    { upstreamV2Breaker: "false", ...flags },
  );
  later(here.close);
  return { here, effects };
}

async function ask(here: Front, { method, target, body }: Kind, nth: number, fields = "") {
  const text = body === undefined ? "" : JSON.stringify(body(nth));
  return (await here.ask(`${method} ${target(nth)}`, `${fields}Content-Length: ${text.length}\r\n`, text)).answer;
}

it("T-PUT-07: a write whose platform breaks off takes effect once, and its client is told that nobody knows", async () => {
  const tries = scale(20, 500);
  const { here, effects } = await counting((index) => index % 7 !== 0, { upstreamV2Connections: "8" });
  for (const [at, kind] of KINDS.entries()) {
    effects.clear();
    let unknown = 0;
    // Several at a time, some answered: connections are kept, and taken again.
    const lanes = Array.from({ length: 4 }, async (_lane, lane) => {
      for (let nth = lane; nth < tries; nth += 4) {
        const answer = await ask(here, kind, at * tries + nth);
        // A response that broke off on its way through arrives as broken as it came.
        if (answer.status === 200) continue;
        expect([kind.method, answer.status, reasonOf(answer)]).toEqual([kind.method, 502, "UPSTREAM_UNREACHABLE"]);
        expect(answer.json().details[0]?.metadata).toEqual({ state: "unknown" });
        unknown++;
      }
    });
    await Promise.all(lanes);
    expect([kind.method, Math.max(...effects.values()), effects.size]).toEqual([kind.method, 1, tries]);
    expect(unknown).toBeGreaterThan(tries / 3);
    figure("T-PUT-07", "writes broken off after their bytes were sent", tries, "requests");
    figure("T-PUT-07", "most side effects of one client request", Math.max(...effects.values()), "effects");
  }
  expect(here.platform.requests).toHaveLength(KINDS.length * tries);
});

it("T-PUT-07: a write is not sent on another connection when the one that it took had just been closed", async () => {
  const tries = scale(20, 500);
  const effects = new Map<string, number>();
  // Answers each first request of a connection and cuts it at the first byte of the second.
  const here = await front(
    ({ line, connection }, socket) => {
      effects.set(line, (effects.get(line) ?? 0) + 1);
      if (socket.bytesWritten > 0) return void socket.resetAndDestroy();
      const id = /groups\/(\S+?)(\?| )/.exec(line)?.[1] ?? "";
      socket.write(ok(JSON.stringify({ uid: id, name: `c${connection}`, description: "" })));
    },
    { upstreamV2Connections: "1" },
  );
  later(here.close);
  const statuses = new Set<number>();
  for (let nth = 0; nth < tries; nth++) statuses.add((await ask(here, KINDS[0] as Kind, nth)).status);
  expect(statuses).toEqual(new Set([200, 502]));
  expect([effects.size, Math.max(...effects.values())]).toEqual([tries, 1]);
});

it("T-PUT-09: a create that nobody knows the end of is never sent twice, and the client's own Idempotency-Key goes along", async () => {
  const tries = scale(20, 500);
  const { here, effects } = await counting(() => true);
  for (let nth = 0; nth < tries; nth++) {
    const answer = await ask(here, KINDS[1] as Kind, nth, `Idempotency-Key: key ${nth}\r\n`);
    expect([answer.status, answer.json().details[0]?.metadata]).toEqual([502, { state: "unknown" }]);
  }
  const { requests } = here.platform;
  expect(requests.map(({ fields }) => fields.find(([name]) => /^idempotency-key$/i.test(name))?.[1])).toEqual(
    Array.from({ length: tries }, (_, nth) => `key ${nth}`),
  );
  expect(Math.max(...effects.values())).toBe(1);
  figure("T-PUT-09", "creates sent twice after an ambiguous failure", requests.length - tries, "creates");
});
