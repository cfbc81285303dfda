/**
 * A platform whose every record names its tenant, and that fails on request (v1 and v2 groups). The token says both:
 * `t7.reset` is tenant 7, whose response breaks off before it begins.
 */
import { createServer } from "node:http";

const RECORDS = 450;
/** What the crowd of `hogs.mjs` lists. */
const CROWD = 900;
const CROWD_RECORDS = 1_000;
/** Every so many records of a list with writers come and go. */
const FLEETING = 10;
const FLEET_MS = 50;
const MAX_PAGE = 200;
const SLOW_MS = 200;
const LATE_MS = 300;
const BIG_BYTES = 256 * 1024;
const TIME = "2025-11-03T08:02:02.674Z";

/** The names of one record in both versions. No other tenant may see the tenant's name. */
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

/** The records that there are now, by their index: with writers, each tenth is there in one moment and gone in the next. */
function indexesOf(tenant, fault) {
  const all = Array.from({ length: tenant === CROWD ? CROWD_RECORDS : RECORDS }, (_, i) => i);
  if (fault !== "writers") return all;
  const moment = Math.floor(performance.now() / FLEET_MS);
  return all.filter((i) => i % FLEETING !== 0 || ((i / FLEETING) * 7 + moment) % 3 !== 0);
}

/** Tokens remember a record. `expired`: the page behind one has nothing, and no token, but the right count. */
function pageOf(tenant, query, fault) {
  const indexes = indexesOf(tenant, fault);
  const size = Math.min(MAX_PAGE, Number(query.get("page_size") ?? MAX_PAGE));
  const skipped = Number(query.get("skip") ?? 0);
  const token = query.get("page_token");
  const behind = token === null ? 0 : indexes.filter((index) => index <= Number(token.slice(1))).length;
  const gone = fault === "expired" && (token !== null || skipped > 0);
  const taken = gone ? [] : indexes.slice(behind + skipped, behind + skipped + size);
  const last = taken.at(-1);
  const nextPageToken = last !== undefined && last !== indexes.at(-1) ? `k${last}` : "";
  const groups = taken.map((index) => recordOf(tenant, index, true));
  return { groups, nextPageToken, totalCount: String(indexes.length), skipped };
}

function answerTo({ method, url }, tenant, fault, body) {
  const { pathname, searchParams } = new URL(url, "http://platform");
  if (pathname === "/iam/v2beta1/big") return { tenant: `tenant-${tenant}-`, padding: "x".repeat(BIG_BYTES) };
  if (pathname === "/iam/v2beta1/groups") return pageOf(tenant, searchParams, fault);
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
  if (fault === "quota") {
    response.writeHead(429, { "content-type": "application/json", "retry-after": "2" });
    return response.end(JSON.stringify({ code: 8, message: "too many", details: [] }));
  }
  if (Number.isNaN(tenant)) {
    response.writeHead(401, { "content-type": "application/json" });
    return response.end(JSON.stringify({ code: 16, message: "who are you?", details: [] }));
  }
  const text = Buffer.from(JSON.stringify(answerTo(request, tenant, fault, body)));
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
    const go = () =>
      respond(request, response, tenant === "" ? Number.NaN : Number(tenant), fault, Buffer.concat(chunks).toString());
    const wait = fault === "slow" ? SLOW_MS : fault === "late" ? LATE_MS : 0;
    if (wait > 0) setTimeout(go, wait);
    else go();
  });
});
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${server.address().port}`),
);
