/**
 * A hand-written proxy for one v1 list: fastify, undici, JSON.parse, rename, JSON.stringify. With `zeros` as its second argument it also adds what
 * a platform that leaves zeros out did not send.
 */
import fastify from "fastify";
import { Agent, request } from "undici";

const [, , upstream, zeros] = process.argv;
const dispatcher = new Agent();
const RENAMES = { uid: "id", createTime: "createdAt", updateTime: "updatedAt" };
const ZEROS = {
  name: "",
  description: "",
  resourceLimits: {},
  verified: false,
  kind: "ORG_KIND_UNSPECIFIED",
  status: "ORG_STATUS_UNSPECIFIED",
};
const translated = zeros === "zeros" ? completed : renamed;

const app = fastify({ logger: false });
app.get("/iam/v1/groups", async ({ headers }, reply) => {
  const answer = await request(`${upstream}/iam/v2beta1/groups?page_size=200`, {
    dispatcher,
    headers: { authorization: headers.authorization, accept: "application/json" },
  });
  const { groups } = JSON.parse(await answer.body.text());
  const items = groups.map(translated);
  reply.code(answer.statusCode).header("content-type", "application/json");
  return reply.send(JSON.stringify({ items }));
});

function renamed(record) {
  const out = {};
  for (const key in record) out[RENAMES[key] ?? key] = record[key];
  return out;
}

function completed(record) {
  const out = renamed(record);
  for (const key in ZEROS) out[key] ??= ZEROS[key];
  return out;
}

console.log(await app.listen({ port: 0, host: "127.0.0.1" }));
