/** Which regular expressions does src hold, and what would keep each of them busy? */
import { readdirSync, readFileSync } from "node:fs";
import { parseAst } from "vitest/node";

export interface Expression {
  /** `src/listener/gate.ts:27`. */
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

/** Every literal; and every `new RegExp`, whose source is only known when the program runs. */
export interface Found {
  readonly literals: readonly Expression[];
  /** Where expressions are built. */
  readonly built: readonly string[];
}

export function expressionsOf(root: string): Found {
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
export function piecesOf(source: string, most: number): readonly string[] {
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

/** `length` characters of `piece` again and again, then what the expression does not expect. */
export function hostile(piece: string, length: number): readonly string[] {
  const many = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
  return [`${many}!`, `x${many}\u0000`];
}
