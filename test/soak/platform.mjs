/**
 * What does a platform answer whose every record says whose it is, and that fails as it is told to? (v1 and v2 groups. The token says both:
 * `t7.reset` is tenant 7, whose answer breaks off before it begins.)
 */
import { createServer } from "node:http";

const RECORDS = 450;
const MAX_PAGE = 200;
const SLOW_MS = 200;
const LATE_MS = 300;
const BIG_BYTES = 256 * 1024;
const TIME = "2025-11-03T08:02:02.674Z";

/** The names of one record in both versions; the name of the tenant is what nobody else may see. */
function recordOf(tenant, index, v2) {
  const id = `${tenant.toString(16).padStart(40, "0")}/${index.toString(16).padStart(16, "0")}`;
  const said = {
    name: `tenant-${tenant}-`,
    description: `group ${index} of tenant-${tenant}-`,
    resourceLimits: {},
    verified: false,
  };
  const kept = { kind: "ORG_KIND_UNSPECIFIED", status: "ORG_STATUS_READY" };
  return v2
    ? { uid: id, ...said, ...kept, createTime: TIME, updateTime: TIME }
    : { id, ...said, ...kept, createdAt: TIME, updatedAt: TIME };
}

const listOf = (tenant, v2, from, to) => Array.from({ length: to - from }, (_, i) => recordOf(tenant, from + i, v2));

function pageOf(tenant, query) {
  const size = Math.min(MAX_PAGE, Number(query.get("page_size") ?? MAX_PAGE));
  const skipped = Number(query.get("skip") ?? 0);
  const from = Math.min(RECORDS, Number(query.get("page_token")?.slice(1) ?? 0) + skipped);
  const to = Math.min(RECORDS, from + size);
  const nextPageToken = to < RECORDS ? `k${to}` : "";
  return { groups: listOf(tenant, true, from, to), nextPageToken, totalCount: String(RECORDS), skipped };
}

function answerTo({ method, url }, tenant, body) {
  const { pathname, searchParams } = new URL(url, "http://platform");
  if (pathname === "/iam/v2beta1/big") return { tenant: `tenant-${tenant}-`, padding: "x".repeat(BIG_BYTES) };
  if (pathname === "/iam/v2beta1/groups") return pageOf(tenant, searchParams);
  if (pathname === "/iam/v1/groups") return { items: listOf(tenant, false, 0, RECORDS) };
  const v2 = pathname.startsWith("/iam/v2beta1/");
  const record = recordOf(tenant, Number.parseInt(pathname.slice(-16), 16), v2);
  return method === "PATCH" || method === "PUT" ? { ...record, ...JSON.parse(body) } : record;
}

function respond(request, response, tenant, fault, body) {
  if (fault === "reset") return request.socket.resetAndDestroy();
  if (fault === "unavailable") {
    response.writeHead(503, { "content-type": "application/json" });
    return response.end(JSON.stringify({ code: 14, message: "try later", details: [] }));
  }
  const text = Buffer.from(JSON.stringify(answerTo(request, tenant, body)));
  const head = { "content-type": "application/json", "content-length": text.length };
  if (fault !== "cut") return response.writeHead(200, head).end(text);
  response.writeHead(200, head);
  return response.write(text.subarray(0, text.length >> 1), () => request.socket.destroy());
}

const server = createServer({ keepAliveTimeout: 5_000 }, (request, response) => {
  const [, tenant = "", fault = ""] = /^Bearer t(\d+)\.(\w+)$/.exec(request.headers.authorization ?? "") ?? [];
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("error", () => {});
  request.on("end", () => {
    const go = () => respond(request, response, Number(tenant), fault, Buffer.concat(chunks).toString());
    const wait = fault === "slow" ? SLOW_MS : fault === "late" ? LATE_MS : 0;
    if (wait > 0) setTimeout(go, wait);
    else go();
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
