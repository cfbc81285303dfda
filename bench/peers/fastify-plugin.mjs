/** carryover in a Fastify app, with its metrics, and its log of each request in a file: as `serve` does it. */
import { createWriteStream } from "node:fs";
import carryover from "carryover/fastify";
import fastify from "fastify";

const [upstream, log] = process.argv.slice(2);
const app = fastify({ logger: false });
app.register(carryover, {
  log: createWriteStream(log),
  config: { upstream: { v2: { url: upstream } }, admin: { port: 0 }, log: { level: "info" } },
});
console.log(await app.listen({ port: 0, host: "127.0.0.1" }));
