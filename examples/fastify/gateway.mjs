/** A gateway in front of an API that moves from v1 to v2: an access check, a rate limit, and carryover. `node gateway.mjs PLATFORM-URL [PORT]` */
import carryover from "carryover/fastify";
import Fastify from "fastify";
import { Registry } from "prom-client";

const [platform, port = "8080"] = process.argv.slice(2);
if (platform === undefined) {
  console.error("usage: node gateway.mjs PLATFORM-URL [PORT]");
  process.exit(64);
}

const KEYS = new Map([
  ["key-of-team-a", "team-a"],
  ["key-of-team-b", "team-b"],
]);
const REQUESTS_PER_MINUTE = 10;

const app = Fastify({ logger: false });
const metrics = new Registry();

// The gateway has its own keys. The platform never sees them, and checks its own tokens.
app.addHook("onRequest", async (request, reply) => {
  const team = KEYS.get(request.headers["x-gateway-key"] ?? "");
  if (team === undefined) return reply.code(401).send({ message: "X-Gateway-Key: unknown" });
  delete request.headers["x-gateway-key"];
  request.headers["x-team"] = team;
});

// A fixed window. (@fastify/rate-limit adds such a hook, too.)
const counts = new Map();
const window = setInterval(() => counts.clear(), 60_000);
app.addHook("onRequest", async (request, reply) => {
  const team = request.headers["x-team"];
  const count = (counts.get(team) ?? 0) + 1;
  counts.set(team, count);
  if (count > REQUESTS_PER_MINUTE) return reply.code(429).header("retry-after", "60").send({ message: "slow down" });
});
app.addHook("onClose", async () => clearInterval(window));

app.register(carryover, {
  prefix: "/api",
  metrics,
  config: {
    upstream: { v2: { url: platform }, v1: { url: platform } },
    cutover: { mode: "translate" },
    clients: { identify: ["header:x-team"], names: [...KEYS.values()].map((team) => `${team}=${team}`) },
  },
});

app.get("/status", () => app.carryover.status());
app.get("/metrics", async (_request, reply) => {
  reply.type(metrics.contentType);
  return metrics.metrics();
});

for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => app.close());
console.log(`gateway at ${await app.listen({ port: Number(port), host: "127.0.0.1" })}`);
