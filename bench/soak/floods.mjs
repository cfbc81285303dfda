/** Hostile clients of the gRPC port for the soak test of both ports, each with frames written by hand. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { callHead, FRAME, frame, literal, PREFACE } from "../../test/grpc/support/frames.mjs";

const ROUND = 500;

/** What one connection does, in rounds; each returns the frames of a round. `path`: an rpc. */
const floodsOf = (path) => {
  const head = callHead(path, [["authorization", "Bearer bad"]]);
  const many = (make) => (round) =>
    Buffer.concat(Array.from({ length: ROUND }, (_, i) => make(1 + 2 * (round * ROUND + i))));
  const announced = Buffer.from([0, 0, 64, 0, 0, 1, 2, 3]);
  return {
    "rapid resets": many((id) =>
      Buffer.concat([frame(FRAME.headers, 4, id, head), frame(FRAME.reset, 0, id, Buffer.from([0, 0, 0, 8]))]),
    ),
    continuations: (round) =>
      Buffer.concat([
        ...(round === 0 ? [frame(FRAME.headers, 0, 1, head)] : []),
        ...Array.from({ length: 20 }, () => frame(FRAME.continuation, 0, 1, literal("x-flood", "y".repeat(100)))),
      ]),
    settings: many(() => frame(FRAME.settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100]))),
    pings: many(() => frame(FRAME.ping, 0, 0, Buffer.alloc(8))),
    "calls whose message never comes": (round) =>
      round === 0
        ? Buffer.concat(
            Array.from({ length: 100 }, (_, i) =>
              Buffer.concat([frame(FRAME.headers, 4, 1 + 2 * i, head), frame(FRAME.data, 0, 1 + 2 * i, announced)]),
            ),
          )
        : Buffer.alloc(0),
    "windows of zero": (round) =>
      round === 0
        ? Buffer.concat([
            frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])),
            ...Array.from({ length: 50 }, (_, i) =>
              frame(FRAME.headers, 5, 1 + 2 * i, callHead(path, [["authorization", "Bearer t900.ok"]])),
            ),
          ])
        : Buffer.alloc(0),
    "header bombs": many((id) =>
      frame(
        FRAME.headers,
        5,
        id,
        Buffer.concat([head, ...Array.from({ length: 40 }, () => literal("x-b", "z".repeat(100)))]),
      ),
    ),
    rubbish: (round) =>
      round === 0 ? Buffer.alloc(0) : Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 7919) % 251)),
  };
};

/** Until `ms` are over, each kind again and again on a connection of its own. `counts` gets the connections of each kind. */
export async function flood(url, path, ms, counts) {
  const { hostname, port } = new URL(url);
  const until = performance.now() + ms;
  const one = async (kind, roundOf) => {
    while (performance.now() < until) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {}).resume();
      const closed = once(socket, "close").catch(() => {});
      await Promise.race([once(socket, "connect").catch(() => {}), closed]);
      socket.write(PREFACE);
      socket.write(frame(FRAME.settings, 0, 0));
      counts[kind] = (counts[kind] ?? 0) + 1;
      for (let round = 0; !socket.destroyed && performance.now() < until; round++) {
        const bytes = roundOf(round);
        if (bytes.length > 0) socket.write(bytes);
        while (socket.writableNeedDrain && !socket.destroyed && performance.now() < until) await sleep(50);
        await sleep(50);
      }
      socket.destroy();
      await sleep(200);
    }
  };
  await Promise.all(Object.entries(floodsOf(path)).map(([kind, roundOf]) => one(kind, roundOf)));
}
