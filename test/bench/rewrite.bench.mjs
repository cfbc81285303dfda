/**
 * Compares rewriting one page of 200 records with JSON.parse of the same bytes. `node test/bench/rewrite.bench.mjs`
 * prints medians of interleaved rounds, and ratios.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildModules } from "../../scripts/build/modules.mjs";

const { createPageRewriter } = await import(pathToFileURL(join(await buildModules(), "src/json/rewrite.js")).href);

const ROUNDS = 15;
const PAGES_A_ROUND = 300;
const RENAMES = {
  uid: "id",
  createTime: "createdAt",
  updateTime: "updatedAt",
  parentUid: "parentId",
  kind: "groupKind",
};

const hex = (seed, length) =>
  Array.from({ length }, (_, i) => ((seed * 2654435761 + i * 40503) >>> (i % 13)) & 15)
    .map((digit) => digit.toString(16))
    .join("");

const groups = Array.from({ length: 200 }, (_, i) => ({
  uid: `${hex(7, 40)}/${hex(i, 16)}`,
  name: `team-${i}`,
  description: i % 3 === 0 ? "" : `The team that looks after part ${i} of the estate`,
  createTime: `2024-03-${String(1 + (i % 28)).padStart(2, "0")}T10:20:30.123456Z`,
  updateTime: `2025-07-${String(1 + (i % 28)).padStart(2, "0")}T11:12:13Z`,
  parentUid: hex(7, 40),
  verified: i % 2 === 0,
  kind: "GROUP_KIND_FOLDER",
}));
const page = Buffer.from(JSON.stringify({ groups, nextPageToken: hex(3, 32), totalCount: 10_003, skipped: 0 }));

const rewrite = createPageRewriter({
  items: "groups",
  key: "uid",
  scalars: ["nextPageToken", "totalCount", "skipped"],
  record: {
    kind: "object",
    members: new Map([
      ...Object.entries(RENAMES).map(([from, rename]) => [from, { rename }]),
      ...["name", "description", "verified"].map((name) => [name, {}]),
    ]),
    insert: [{ key: "description", value: '""' }],
  },
});

function parseRenameStringify(bytes) {
  const { groups: records } = JSON.parse(bytes.toString());
  const items = records.map((record) => {
    const out = {};
    for (const key in record) out[RENAMES[key] ?? key] = record[key];
    return out;
  });
  return Buffer.from(JSON.stringify({ items }));
}

const candidates = {
  "JSON.parse": (bytes) => JSON.parse(bytes.toString()),
  "rewrite the page": rewrite,
  "parse, rename, stringify": parseRenameStringify,
};

const wanted = parseRenameStringify(page).toString();
if (`{"items":[${Buffer.from(rewrite(page).bytes)}]}` !== wanted) throw new Error("the candidates disagree");

const times = new Map(Object.keys(candidates).map((name) => [name, []]));
for (let round = -3; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(candidates)) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < PAGES_A_ROUND; i++) run(page);
    const us = Number(process.hrtime.bigint() - start) / 1000 / PAGES_A_ROUND;
    if (round >= 0) times.get(name)?.push(us);
  }
}

const sorted = (name) => [...(times.get(name) ?? [])].sort((a, b) => a - b);
const median = (name) => sorted(name)[ROUNDS >> 1] ?? Number.NaN;
console.log(`one page: ${groups.length} records, ${page.length} bytes, ${ROUNDS} rounds of ${PAGES_A_ROUND}`);
for (const name of Object.keys(candidates)) {
  const [low, high] = [sorted(name)[0] ?? 0, sorted(name).at(-1) ?? 0];
  const ratio = (median(name) / median("JSON.parse")).toFixed(2);
  console.log(
    `${name.padEnd(26)} ${median(name).toFixed(1).padStart(8)} µs (${low.toFixed(1)} to ${high.toFixed(1)})  ${ratio} × JSON.parse`,
  );
}
