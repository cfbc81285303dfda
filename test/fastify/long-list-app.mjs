/** A Fastify app with carryover before the platform at the address that it is given. `/memory` has its peak of heap and external memory in bytes. */
import carryover from "carryover/fastify";
import Fastify from "fastify";

let peak = 0;
setInterval(() => {
  const { heapUsed, external } = process.memoryUsage();
  peak = Math.max(peak, heapUsed + external);
}, 10).unref();

const app = Fastify();
app.register(carryover, {
  config: { upstream: { v2: { url: process.argv[2], pageTokens: "keyset" } } },
});
app.get("/memory", async () => {
  const seen = peak;
  peak = 0;
  return String(seen);
});
console.log(await app.listen({ port: 0, host: "127.0.0.1" }));
// It removes its socket.
process.once("SIGTERM", () => app.close());
