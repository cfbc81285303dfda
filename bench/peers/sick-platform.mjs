/**
 * One version of a platform that can be made sick: `sick-platform.mjs v1|v2`. It lists one role and deletes groups. `PUT /sickness` takes
 * JSON: `status` with `share` (0 to 1) of requests, of `writes` alone, a delay in `ms`, `reset` in the middle of bodies, `wrong` records.
 */
import { createServer } from "node:http";

const [, , version] = process.argv;
const ROLE = { name: "viewer", description: "Built-in viewer role", capabilities: [] };
const [ID, TIME] = ["c54febd235da49ca4ecde7f7e061bf59d990a58c", "2025-11-04T07:47:06.452Z"];
let sick = {};

function listOf(name) {
  if (version === "v1") return { items: [{ id: ID, ...ROLE, name, createdAt: TIME, updatedAt: TIME }] };
  const role = { uid: ID, ...ROLE, name, createTime: TIME, updateTime: TIME };
  return { roles: [role], nextPageToken: "", totalCount: "1", skipped: 0 };
}

function respond(request, response) {
  const isWrite = request.method !== "GET";
  const { status, share = 1, writes = false, reset = false, wrong = false } = sick;
  if (status !== undefined && (!writes || isWrite) && Math.random() < share) {
    response.writeHead(status, { "content-type": "application/json" });
    response.end('{"code":14,"message":"this version is sick","details":[]}');
    return;
  }
  const body = JSON.stringify(isWrite ? {} : listOf(wrong ? "viewed" : "viewer"));
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  if (!reset) return response.end(body);
  response.write(body.slice(0, body.length / 2));
  setTimeout(() => request.socket.resetAndDestroy(), 5);
}

const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  if (request.url === "/sickness") {
    sick = JSON.parse(text);
    return response.end();
  }
  setTimeout(() => respond(request, response), 5 + (sick.ms ?? 0));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
