/** What does rewriting one page of 200 records cost beside parsing the same bytes? (In this process; no network.) */
import { ratios, spread } from "./stats.mjs";

const RENAMES = { uid: "id", createTime: "createdAt", updateTime: "updatedAt" };

/** `answer`: the platform's page. Throws when the candidates disagree about it. */
export async function measureRewriting(dist, answer, { rounds, pages }) {
  const page = Buffer.from(answer.body);
  const candidates = {
    rewrite: await rewriterOf(dist),
    parse: (bytes) => JSON.parse(bytes.toString()),
    rename: parseRenameStringify,
  };
  const wanted = parseRenameStringify(page).toString();
  const got = `{"items":[${Buffer.from(candidates.rewrite(page).bytes)}]}`;
  if (JSON.stringify(JSON.parse(got)) !== wanted) throw new Error("the rewritten page has other records");

  const times = { rewrite: [], parse: [], rename: [] };
  for (let round = -3; round < rounds; round++) {
    for (const [name, run] of Object.entries(candidates)) {
      const start = process.hrtime.bigint();
      for (let i = 0; i < pages; i++) run(page);
      if (round >= 0) times[name].push(Number(process.hrtime.bigint() - start) / 1000 / pages);
    }
  }
  return {
    bytes: page.length,
    rewrite: spread(times.rewrite),
    parse: { ...spread(times.parse), ratio: ratios(times.rewrite, times.parse) },
    rename: { ...spread(times.rename), ratio: ratios(times.rewrite, times.rename) },
  };
}

/** The rewriter with the catalogue's own rows for groups, as the list of groups uses it. */
async function rewriterOf(dist) {
  const load = (path) => import(new URL(path, dist).href);
  const [{ createPageRewriter }, { pagePlan }, { answerPlan }, { default: group }] = await Promise.all(
    ["json/rewrite.js", "translate/pages.js", "translate/answer-plan.js", "catalogue/v1-v2beta1/group.js"].map(load),
  );
  const { answer } = group.operations.find(({ kind }) => kind === "list");
  return createPageRewriter(pagePlan(group, answerPlan(answer, { unknown: "pass", insertZeros: true })));
}

function parseRenameStringify(bytes) {
  const { groups } = JSON.parse(bytes.toString());
  const items = groups.map((record) => {
    const out = {};
    for (const key in record) out[RENAMES[key] ?? key] = record[key];
    return out;
  });
  return Buffer.from(JSON.stringify({ items }));
}
