/**
 * A platform with very many groups that responds after a fixed time to any number of concurrent calls. As in v2, pages
 * hold up to 200 records ordered by uid, `skip` works, and tokens are positions in the order. A caller's token sets how
 * many groups it sees: `records-20000-…`. Records are made once. A get has a delay of its own.
 */
import { createServer } from "node:http";

const [, , most, listMs, getMs] = process.argv.map(Number);
const LIST = "/iam/v2beta1/groups";
const MAX_PAGE = 200;
const ROOT = "57f9e5fa7da60166436d01ae3baf059ec752f4bb";

const texts = Array.from({ length: most }, (_, i) => JSON.stringify(recordOf(i)));
const starts = new Uint32Array(most + 1);
texts.forEach((text, i) => {
  // A comma stands between two records.
  starts[i + 1] = starts[i] + text.length + 1;
});
const bytes = Buffer.from(`${texts.join(",")},`);
texts.length = 0;

function recordOf(i) {
  return {
    uid: `${ROOT}/${i.toString(16).padStart(16, "0")}`,
    name: `team-${i}`,
    description: i % 3 === 0 ? "" : `The team that looks after part ${i} of the estate`,
    resourceLimits: {},
    verified: false,
    createTime: "2025-11-03T08:02:02.674Z",
    updateTime: "2025-11-03T08:02:02.674Z",
    kind: "ORG_KIND_UNSPECIFIED",
    status: "ORG_STATUS_READY",
  };
}

function answerTo(target, authorization) {
  const query = target.indexOf("?");
  const path = query < 0 ? target : target.slice(0, query);
  if (path !== LIST) return getOf(path);
  const asked = new URLSearchParams(query < 0 ? "" : target.slice(query + 1));
  const visible = Math.min(most, Number(/records-(\d+)/.exec(authorization)?.[1] ?? most));
  const size = Math.min(MAX_PAGE, Number(asked.get("page_size") ?? MAX_PAGE));
  const skipped = Number(asked.get("skip") ?? 0);
  const from = Math.min(visible, Number(asked.get("page_token")?.slice(1) ?? 0) + skipped);
  const to = Math.min(visible, from + size);
  const token = to < visible ? `k${to}` : "";
  const records = from === to ? Buffer.alloc(0) : bytes.subarray(starts[from], starts[to] - 1);
  const tail = `],"nextPageToken":"${token}","totalCount":"${visible}","skipped":${skipped}}`;
  return [Buffer.from('{"groups":['), records, Buffer.from(tail)];
}

function getOf(path) {
  const i = Number.parseInt(path.slice(-16), 16);
  return path.startsWith(`${LIST}/${ROOT}/`) && i < most ? [bytes.subarray(starts[i], starts[i + 1] - 1)] : undefined;
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const parts = answerTo(request.url, request.headers.authorization);
  if (parts === undefined) return response.writeHead(404, { "content-length": 0 }).end();
  const answer = () => {
    const body = Buffer.concat(parts);
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
  };
  const ms = parts.length === 1 ? getMs : listMs;
  if (ms > 0) setTimeout(answer, ms);
  else answer();
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
