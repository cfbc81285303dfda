import { readdirSync, readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { parseAst } from "vitest/node";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const { literals, built } = expressionsOf(ROOT);

/** These take time that grows faster than the text. The input of each is bounded before, or comes from a trusted source. */
const BOUNDED: readonly (readonly [where: string, why: string])[] = [
  ["src/catalogue/check.ts", "templates of the catalogue"],
  ["src/commands/check/reach.ts", "the path of a configured address"],
  ["src/shadow/json-content.ts", "at most 100 digits of a fraction"],
  ["src/model/instant.ts", "at most 100 digits of a fraction"],
  [
    "src/translate/headers.ts",
    "a field with at most one unclosed bracket or quote, from a response head of limited length",
  ],
  ["src/runtime/explain/explain.ts", "200 characters behind each opening one, on the operator's own command line"],
  ["src/commands/explain/command.ts", "a configured address"],
  ["src/rollout/deprecation.ts", "a configured address"],
  ["src/model/secrets.ts", "foreign text: at most 2,000 characters; all others are linear, as their tests show"],
  ["src/commands/report/formats.ts", "the digits of a number"],
  ["src/commands/report/arguments.ts", "an address on the operator's own command line"],
  ["src/shadow/results.ts", "at most 200 characters of a difference"],
  ["src/translate/error.ts", "at most 1,000 characters of a field's name"],
  ["src/upstream/pool.ts", "a configured address"],
  ["src/grpc/descriptors.ts", "paths of the operator's descriptors"],
  ["src/grpc/status.ts", "Base64 of our own, which ends with two of them at most"],
];

/**
 * In a thread of its own, so that an expression that never ends is stopped. Quadratic time shows at 4 KiB already; a suspect is
 * tried again with 2 and with 8 KiB, three times each, and takes eight times as long or more.
 */
const TRIER = `
const { parentPort, workerData } = require("node:worker_threads");
const { expressions, long } = workerData;
const text = (piece, length, end) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length) + end;
const once = (re, text) => {
  const at = performance.now();
  text.replace(re, "");
  return performance.now() - at;
};
const best = (re, text) => Math.min(once(re, text), once(re, text), once(re, text));
let tries = 0;
for (const { where, source, flags, pieces, index } of expressions) {
  parentPort.postMessage({ kind: "begin", where });
  const re = new RegExp(source, flags);
  let worst;
  for (const piece of pieces) for (const end of ["!", "\\u0000"]) {
    if (worst !== undefined) break;
    tries++;
    if (once(re, text(piece, 4096, end)) < 2) continue;
    const little = best(re, text(piece, 2048, end));
    const much = best(re, text(piece, 8192, end));
    tries += 6;
    if (much > 5 && much > 8 * little) worst = { piece, little, much };
  }
  if (worst === undefined) for (const piece of pieces.slice(0, long)) {
    tries++;
    once(re, text(piece, 65536, "!"));
  }
  parentPort.postMessage({ kind: "end", index, where, worst });
}
parentPort.postMessage({ kind: "over", tries });
`;

interface Slow {
  readonly where: string;
  readonly source: string;
  readonly piece: string;
  readonly little: number;
  readonly much: number;
}

describe("T-SMG-36: regular expressions", () => {
  it("in src take time in proportion to hostile text, unless they are known to read bounded text only", async () => {
    const known = new Set(BOUNDED.map(([where]) => where));
    const unknown = literals.filter(({ where }) => !known.has(fileOf(where)));
    const { slow, tries } = await tryAll(unknown, 10_000);
    expect(slow).toEqual([]);
    figure("T-SMG-36", "regular expressions in src", literals.length, "expressions");
    figure("T-SMG-36", "hostile texts of 2 to 64 KiB that they were tried with", tries, "texts");
  }, 120_000);

  it("would be found if one took more: the trial knows quadratic and exponential ones", async () => {
    const of = (source: string): Expression => ({ where: source, source, flags: "" });
    expect((await tryAll([of("<[^>]*>")], 10_000)).slow).toHaveLength(1);
    await expect(tryAll([of("^(?:x|x)+$")], 1_000)).rejects.toThrow("takes for ever");
  }, 120_000);

  it("are never built from other texts", () => {
    expect(built).toEqual([]);
  });

  it("that are listed as bounded are still there", () => {
    const files = new Set(literals.map(({ where }) => fileOf(where)));
    expect(BOUNDED.filter(([where]) => !files.has(where))).toEqual([]);
  });
});

const fileOf = (where: string) => where.replace(/:\d+$/, "");

/** Tries all; rejects when one of them takes more than `mostMs` for all its texts: those in src take a few. */
async function tryAll(all: readonly Expression[], mostMs: number): Promise<{ slow: readonly Slow[]; tries: number }> {
  const pieces = scale(40, 200);
  const expressions = all.map((one, index) => ({ ...one, index, pieces: piecesOf(one.source, pieces) }));
  const worker = new Worker(TRIER, { eval: true, workerData: { expressions, long: scale(3, pieces) } });
  const slow: Slow[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      worker.once("error", reject);
      worker.on("message", (message) => {
        clearTimeout(timer);
        if (message.kind === "over") return resolve({ slow, tries: message.tries });
        if (message.kind === "end" && message.worst !== undefined) {
          slow.push({ where: message.where, source: all[message.index]?.source ?? "", ...message.worst });
        }
        timer = setTimeout(() => reject(new Error(`${message.where} takes for ever`)), mostMs);
      });
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

interface Expression {
  /** `src/edge/request-checks.ts:27`. */
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

/** Every literal; and every `new RegExp`, whose source is only known when the program runs. */
interface Found {
  readonly literals: readonly Expression[];
  /** Where expressions are built. */
  readonly built: readonly string[];
}

function expressionsOf(root: string): Found {
  const literals: Expression[] = [];
  const built: string[] = [];
  for (const name of readdirSync(`${root}/src`, { recursive: true, encoding: "utf8" }).sort()) {
    if (!name.endsWith(".ts")) continue;
    const text = readFileSync(`${root}/src/${name}`, "utf8");
    for (const node of nodesOf(parseAst(text, { lang: "ts" }))) {
      const where = `src/${name}:${text.slice(0, node.start).split("\n").length}`;
      if (node.regex !== undefined) literals.push({ where, source: node.regex.pattern, flags: node.regex.flags });
      else if (/^(?:New|Call)Expression$/.test(node.type) && node.callee?.name === "RegExp") built.push(where);
    }
  }
  return { literals, built };
}

/** The little of a syntax tree that is looked at. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly name?: string };
}

function* nodesOf(value: unknown): Generator<Node> {
  if (typeof value !== "object" || value === null) return;
  if ("type" in value && "start" in value) yield value as Node;
  for (const child of Object.values(value)) yield* nodesOf(child);
}

/** Characters that classes stand for, and the marks that end nothing. */
const STAND_INS: ReadonlyMap<string, string> = new Map([
  ["d", "0"],
  ["w", "a"],
  ["s", " "],
  ["t", "\t"],
  ["n", "\n"],
  ["r", "\r"],
]);

/**
 * Up to `most` texts that are repeated to make a hostile one: single characters that the expression speaks of, its literal
 * words, and pairs of the characters.
 */
function piecesOf(source: string, most: number): readonly string[] {
  const plain = source
    .replaceAll(/\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})/g, (_, u, x) =>
      String.fromCharCode(Number.parseInt(u ?? x, 16)),
    )
    .replaceAll(/\(\?(?:<?[=!]|:|<\w+>)/g, "(");
  const chars = new Set<string>();
  for (let at = 0; at < plain.length; at++) {
    const char = plain[at] ?? "";
    if (char === "\\") {
      const next = plain[++at] ?? "";
      chars.add(STAND_INS.get(next) ?? next);
    } else chars.add(char);
  }
  for (const always of ["a", "0", " "]) chars.add(always);
  const words = plain.match(/[A-Za-z0-9%/.,;:=-]{2,}/g) ?? [];
  const singles = [...chars];
  const pairs = singles.flatMap((one) => singles.filter((other) => other !== one).map((other) => one + other));
  return [...new Set([...singles, ...words, ...pairs])].slice(0, most);
}
