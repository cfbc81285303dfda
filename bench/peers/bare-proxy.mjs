/** A proxy that does nothing else: @fastify/http-proxy as its manual shows it, with undici's defaults. */
import httpProxy from "@fastify/http-proxy";
import fastify from "fastify";

const app = fastify({ logger: false });
app.register(httpProxy, { upstream: process.argv[2] });
console.log(await app.listen({ port: 0, host: "127.0.0.1" }));
