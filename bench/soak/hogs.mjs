/**
 * Hostile clients for the soak test (`npm run real -- soak --hard`): crowds with one token, very slow uploads, clients
 * that do not read, large bodies with a bad token, tenants over their quota. They never stop; their responses are only
 * counted.
 */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";

/** Tenants that no other client uses. */
export const CROWD = 900;
const GREEDY = [901, 902];
const CROWD_CLIENTS = 64;
const CROWD_EVERY_MS = 20_000;
const UPLOADS = 40;
const DEAF = 60;
const LARGE_BODIES = 2;
const BODY = JSON.stringify({ name: "x", description: "y".repeat(900_000) });
/** Records of a list of the crowd. */
export const CROWD_RECORDS = 1_000;

/** Begins at once; `end` stops all of it. */
export function createHogs(url, judge) {
  const { hostname, port } = new URL(url);
  const counts = { crowdLists: 0, crowdRefused: 0, uploads: 0, deaf: 0, large: 0, greedy: 0 };
  const pool = new Pool(url, { connections: CROWD_CLIENTS + 16, pipelining: 1 });
  const sockets = new Set();
  let over = false;

  async function ask(token, path, options = {}) {
    const headers = { authorization: `Bearer ${token}`, ...options.headers };
    const { statusCode, body } = await pool.request({ method: "GET", path, ...options, headers });
    return { status: statusCode, text: await body.text() };
  }
  /** Again and again, whatever comes of it. */
  async function forever(pauseMs, run) {
    while (!over) {
      await run().catch(() => {});
      await sleep(pauseMs);
    }
  }
  /** A connection that sends `text` and then a byte every four seconds, and reads nothing where it is `deaf`. */
  function hold(text, deaf) {
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.write(text));
      sockets.add(socket);
      const drip = setInterval(() => !deaf && socket.write("x"), 4_000);
      if (deaf) socket.pause();
      else socket.resume();
      const done = () => {
        clearInterval(drip);
        sockets.delete(socket);
        resolve();
      };
      socket.on("error", () => {});
      socket.on("close", done);
      // Who is deaf never learns that the connection is cut.
      if (deaf) setTimeout(() => socket.destroy(), 20_000);
    });
  }

  const work = [
    forever(CROWD_EVERY_MS, () =>
      Promise.all(
        Array.from({ length: CROWD_CLIENTS }, async () => {
          const { status, text } = await ask(`t${CROWD}.ok`, "/iam/v1/groups");
          counts.crowdLists += 1;
          if (status !== 200) counts.crowdRefused += 1;
          judge({ kind: "crowd", fault: "ok", tenant: CROWD, allowed: [200], records: CROWD_RECORDS }, status, text);
        }),
      ),
    ),
    ...GREEDY.map((tenant) =>
      forever(500, async () => {
        await ask(`t${tenant}.quota`, "/iam/v1/groups");
        counts.greedy += 1;
      }),
    ),
    ...Array.from({ length: LARGE_BODIES }, () =>
      forever(1_000, async () => {
        const options = { method: "PUT", body: BODY, headers: { "content-type": "application/json" } };
        await ask("nobody", `/iam/v1/groups/${"0".repeat(40)}`, options);
        counts.large += 1;
      }),
    ),
    ...Array.from({ length: UPLOADS }, (_, i) =>
      forever(1_000, async () => {
        const path = i % 2 === 0 ? "/iam/v2beta1/groups" : `/iam/v1/groups/${"0".repeat(40)}`;
        counts.uploads += 1;
        const head = `${i % 2 === 0 ? "POST" : "PUT"} ${path} HTTP/1.1\r\nHost: soak\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n`;
        await hold(head + "x".repeat(64 * 1024), false);
      }),
    ),
    ...Array.from({ length: DEAF }, () =>
      forever(1_000, async () => {
        counts.deaf += 1;
        await hold(`GET /iam/v1/groups HTTP/1.1\r\nHost: soak\r\nAuthorization: Bearer t${CROWD}.ok\r\n\r\n`, true);
      }),
    ),
  ];
  return {
    counts,
    end: async () => {
      over = true;
      for (const socket of sockets) socket.destroy();
      await Promise.all(work);
      await pool.close();
    },
  };
}
