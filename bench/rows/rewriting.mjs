/** Compares rewriting one page of 200 records with parsing the same bytes. (In this process; no network.) */
import { goal, range, ratios, spread, table } from "../figures.mjs";

const RENAMES = { uid: "id", createTime: "createdAt", updateTime: "updatedAt" };

export async function measureRewriting({ modules, answers, calls, settings }) {
  const { rounds, pages } = settings.rewriting;
  const result = await times(modules, answers[calls.v2List], { rounds, pages });
  const { ratio } = result.parse;
  const value = goal({
    key: "rewrite",
    what: "rewriting a page of 200, validated, time",
    against: "`JSON.parse` of the same bytes",
    target: 0.6,
    least: true,
    unit: "×",
    value: ratio.median,
    text: `${range(ratio, 2)}×`,
    gate: result.parse.low / result.rewrite.low,
  });
  return { goals: [value], text: text(result), faults: [] };
}

/** `answer`: the platform's page. Throws when the candidates disagree about it. */
async function times(modules, answer, { rounds, pages }) {
  const page = Buffer.from(answer.body);
  const candidates = {
    rewrite: await rewriterOf(modules),
    parse: (bytes) => JSON.parse(bytes.toString()),
    rename: parseRenameStringify,
  };
  const wanted = parseRenameStringify(page).toString();
  const got = `{"items":[${Buffer.from(candidates.rewrite(page).bytes)}]}`;
  if (JSON.stringify(JSON.parse(got)) !== wanted) throw new Error("the rewritten page has other records");

  const taken = { rewrite: [], parse: [], rename: [] };
  for (let round = -3; round < rounds; round++) {
    for (const [name, run] of Object.entries(candidates)) {
      const start = process.hrtime.bigint();
      for (let i = 0; i < pages; i++) run(page);
      if (round >= 0) taken[name].push(Number(process.hrtime.bigint() - start) / 1000 / pages);
    }
  }
  return {
    bytes: page.length,
    rewrite: spread(taken.rewrite),
    parse: { ...spread(taken.parse), ratio: ratios(taken.rewrite, taken.parse) },
    rename: { ...spread(taken.rename), ratio: ratios(taken.rewrite, taken.rename) },
  };
}

/** The rewriter with the catalogue's own rows for groups, as the list of groups uses it. */
async function rewriterOf(modules) {
  const load = (path) => import(new URL(path, modules).href);
  const [{ createPageRewriter }, { pagePlan }, { responsePlan }, { default: group }] = await Promise.all(
    ["json/rewrite.js", "translate/pages.js", "translate/response-plan.js", "catalogue/v1-v2beta1/group.js"].map(load),
  );
  const { answer } = group.operations.find(({ kind }) => kind === "list");
  return createPageRewriter(pagePlan(group, responsePlan(answer, { unknownResponse: "pass", insertZeros: true })));
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

function text({ bytes, rewrite, parse, rename }) {
  const rows = [
    ["rewrite and validate, the catalogue's rows", range(rewrite, 0), ""],
    ["JSON.parse", range(parse, 0), range(parse.ratio, 2)],
    ["JSON.parse, rename, JSON.stringify", range(rename, 0), range(rename.ratio, 2)],
  ];
  const head = ["one page of 200 groups", "µs a page", "time of rewriting beside it (less is better)"];
  return `Rewriting ${bytes} bytes in one process, no network:\n\n${table(head, rows)}`;
}
