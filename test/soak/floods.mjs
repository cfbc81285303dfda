/** Hostile clients of the gRPC port for the soak test of both ports, each with frames written by hand. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, window: 8, continuation: 9 };
const ROUND = 500;

function frame(type, flags, stream, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field whose name and value have fewer than 127 bytes. */
const literal = (name, value) =>
  Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);

const headTo = (path, ...more) =>
  Buffer.concat([
    literal(":method", "POST"),
    literal(":scheme", "http"),
    literal(":path", path),
    literal(":authority", "soak"),
    literal("content-type", "application/grpc"),
    literal("te", "trailers"),
    ...more.map(([name, value]) => literal(name, value)),
  ]);

/** What one connection does, in rounds; each returns the frames of a round. `path`: an rpc. */
const floodsOf = (path) => {
  const head = headTo(path, ["authorization", "Bearer bad"]);
  const many = (make) => (round) =>
    Buffer.concat(Array.from({ length: ROUND }, (_, i) => make(1 + 2 * (round * ROUND + i))));
  const announced = Buffer.from([0, 0, 64, 0, 0, 1, 2, 3]);
  return {
    "rapid resets": many((id) =>
      Buffer.concat([frame(TYPE.headers, 4, id, head), frame(TYPE.reset, 0, id, Buffer.from([0, 0, 0, 8]))]),
    ),
    continuations: (round) =>
      Buffer.concat([
        ...(round === 0 ? [frame(TYPE.headers, 0, 1, head)] : []),
        ...Array.from({ length: 20 }, () => frame(TYPE.continuation, 0, 1, literal("x-flood", "y".repeat(100)))),
      ]),
    settings: many(() => frame(TYPE.settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100]))),
    pings: many(() => frame(TYPE.ping, 0, 0, Buffer.alloc(8))),
    "calls whose message never comes": (round) =>
      round === 0
        ? Buffer.concat(
            Array.from({ length: 100 }, (_, i) =>
              Buffer.concat([frame(TYPE.headers, 4, 1 + 2 * i, head), frame(TYPE.data, 0, 1 + 2 * i, announced)]),
            ),
          )
        : Buffer.alloc(0),
    "windows of zero": (round) =>
      round === 0
        ? Buffer.concat([
            frame(TYPE.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])),
            ...Array.from({ length: 50 }, (_, i) =>
              frame(TYPE.headers, 5, 1 + 2 * i, headTo(path, ["authorization", "Bearer t900.ok"])),
            ),
          ])
        : Buffer.alloc(0),
    "header bombs": many((id) =>
      frame(
        TYPE.headers,
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
      socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
      socket.write(frame(TYPE.settings, 0, 0));
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
