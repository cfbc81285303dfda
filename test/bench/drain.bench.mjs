/** How long does it take to drain 100,000 records that are already in memory? Prints the median of some rounds. */
import { createDrain } from "../../dist/upstream/drain/drain.js";
import { createSlots } from "../../dist/upstream/drain/slots.js";

const RECORDS = 100_000;
const PAGE = 200;
const ROUNDS = 7;

const encoder = new TextEncoder();
const pages = Array.from({ length: RECORDS / PAGE }, (_, page) => pageOf(page));

function pageOf(page) {
  const keys = Array.from({ length: PAGE }, (_, i) => `uid-${String(page * PAGE + i).padStart(40, "0")}`);
  const records = keys.map((uid) => JSON.stringify({ uid, name: `group ${uid}`, description: "x".repeat(120) }));
  const starts = [];
  const ends = [];
  let at = 0;
  for (const record of records) {
    starts.push(at);
    at += record.length;
    ends.push(at);
    at += 1;
  }
  const last = page === RECORDS / PAGE - 1;
  const bytes = encoder.encode(records.join(","));
  return { bytes, starts, ends, keys, nextPageToken: last ? "" : String(page + 1), totalCount: RECORDS, skipped: 0 };
}

const slots = createSlots({ maxConcurrent: 16, maxConcurrentPerCredential: 4 });
const empty = new Uint8Array();
const plan = {
  resource: "groups",
  keyOrder: true,
  request: ({ token }) => ({ method: "GET", target: `/${token ?? "0"}`, headers: [] }),
  read: (response) => pages[Number(response.headers[0][1])],
};
const drain = createDrain({
  send: async (request) => ({ status: 200, headers: [["page", request.target.slice(1)]], body: empty }),
  signal: new AbortController().signal,
  limits: { maxPages: 600, maxRecords: 120_000, maxBytes: 256 * 1024 * 1024, maxSeconds: 45, pageSize: PAGE },
  require: () => "count",
  now: () => performance.now(),
  claim: () => slots.claim("bench"),
  report: () => {},
});

const times = [];
for (let round = 0; round < ROUNDS; round++) {
  const start = performance.now();
  const list = await drain(plan);
  times.push(performance.now() - start);
  if (list.records !== RECORDS || list.witness !== "count") throw new Error("the drain lost records");
}
times.sort((a, b) => a - b);
const median = times[ROUNDS >> 1];
console.log(
  `drain ${RECORDS} records in ${RECORDS / PAGE} pages: median ${median.toFixed(1)} ms ` +
    `(${times[0].toFixed(1)} to ${times[ROUNDS - 1].toFixed(1)}), ${((median * 1e6) / RECORDS).toFixed(0)} ns a record`,
);
