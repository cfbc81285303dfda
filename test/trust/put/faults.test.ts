/** How often does one write of a client take effect when the platform breaks off after the first byte? */
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { type Answer, later, type Rig, reasonOf, rigForTest, takeDownAfterEach } from "../../app/rig.ts";
import { createDouble, type Double, ok } from "../../listener/support/double.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

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
async function counting(broken: (nth: number) => boolean): Promise<{ double: Double; effects: Map<string, number> }> {
  const effects = new Map<string, number>();
  const double = await createDouble(({ line, body }, socket, index) => {
    const id = /groups\/(ab\/[0-9a-f]{8})/.exec(line)?.[1] ?? line;
    effects.set(id, (effects.get(id) ?? 0) + 1);
    const sent = body.length === 0 ? {} : JSON.parse(String(body));
    const good = ok(JSON.stringify({ uid: line.startsWith("POST") ? `${id}/cd` : id, description: "", ...sent }));
    if (broken(index)) BREAKS[index % BREAKS.length]?.[1](socket, good);
    else socket.write(good);
  });
  later(double.close);
  return { double, effects };
}

const ask = (rig: Rig, { method, target, body }: Kind, nth: number, headers: Readonly<Record<string, string>> = {}) =>
  rig.ask(method, target(nth), { headers, ...(body === undefined ? {} : { body: body(nth) }) });

const title = ({ method, target }: Kind) => `${method} ${target(0).split("/").slice(0, 4).join("/")}`;

describe("a write whose platform breaks off after it was sent", () => {
  it.each(KINDS.map((kind) => [title(kind), kind] as const))(
    "T-PUT-07: takes effect once and says that nobody knows: %s",
    async (_, kind) => {
      const tries = scale(20, 500);
      const { double, effects } = await counting((index) => index % 7 !== 0);
      const rig = await rigForTest({ v2Url: double.url, native: false, flags: { upstreamV2Connections: "8" } });
      const asked: (readonly [number, Answer | undefined])[] = [];
      // Several at a time, some answered: connections are kept, and taken again.
      const lanes = Array.from({ length: 4 }, async (_lane, lane) => {
        for (let nth = lane; nth < tries; nth += 4) {
          asked.push([nth, await ask(rig, kind, nth).catch(() => undefined)]);
        }
      });
      await Promise.all(lanes);
      expect(asked).toHaveLength(tries);
      expect(Math.max(...effects.values())).toBe(1);
      expect(effects.size).toBe(tries);
      expect(double.requests).toHaveLength(tries);
      let unknown = 0;
      for (const [, answer] of asked) {
        // An answer that broke off on its way through arrives as broken as it came.
        if (answer === undefined || answer.status === 200) continue;
        expect([answer.status, reasonOf(answer), answer.json.details[0].metadata]).toEqual([
          502,
          "UPSTREAM_UNREACHABLE",
          { state: "unknown" },
        ]);
        unknown++;
      }
      expect(unknown).toBeGreaterThan(tries / 3);
      figure("T-PUT-07", "writes broken off after their bytes were sent", asked.length, "requests");
      figure("T-PUT-07", "most side effects of one client request", Math.max(...effects.values()), "effects");
    },
  );

  it("T-PUT-07: is not sent on another connection when the one that it took had just been closed", async () => {
    const tries = scale(20, 500);
    const effects = new Map<string, number>();
    // Answers each first request of a connection and cuts it at the first byte of the second.
    const double = await createDouble(({ line, connection }, socket) => {
      effects.set(line, (effects.get(line) ?? 0) + 1);
      if (effects.size > 0 && socket.bytesWritten > 0) return socket.resetAndDestroy();
      const id = /groups\/(\S+?)(\?| )/.exec(line)?.[1] ?? "";
      socket.write(ok(JSON.stringify({ uid: id, name: `c${connection}`, description: "" })));
    });
    later(double.close);
    const rig = await rigForTest({ v2Url: double.url, native: false, flags: { upstreamV2Connections: "1" } });
    const statuses: number[] = [];
    for (let nth = 0; nth < tries; nth++) statuses.push((await ask(rig, KINDS[0] as Kind, nth)).status);
    expect(new Set(statuses)).toEqual(new Set([200, 502]));
    expect([effects.size, Math.max(...effects.values())]).toEqual([tries, 1]);
  });
});

describe("a create that nobody knows the end of", () => {
  it("T-PUT-09: is never sent twice, and the client's own Idempotency-Key goes along as it is", async () => {
    const tries = scale(20, 500);
    const { double, effects } = await counting(() => true);
    const rig = await rigForTest({ v2Url: double.url, native: false });
    const kind = KINDS[1] as Kind;
    for (let nth = 0; nth < tries; nth++) {
      const answer = await ask(rig, kind, nth, { "idempotency-key": `key ${nth}` });
      expect([answer.status, answer.json.details[0].metadata]).toEqual([502, { state: "unknown" }]);
    }
    expect(double.requests.map(({ fields }) => fields.find(([name]) => /^idempotency-key$/i.test(name))?.[1])).toEqual(
      Array.from({ length: tries }, (_, nth) => `key ${nth}`),
    );
    expect(Math.max(...effects.values())).toBe(1);
    figure("T-PUT-09", "creates sent twice after an ambiguous failure", double.requests.length - tries, "creates");
  });
});
