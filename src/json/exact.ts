/** Parses JSON without losing digits of whole numbers. */
import type { Json } from "../model/json.ts";
import { type JsonNode, parseTree, rawOf } from "./tree.ts";

/**
 * `JSON.parse`, but whole numbers that a double does not hold become their decimal text, as the JSON mapping of Protocol Buffers writes
 * them. Throws `JsonError` for what is no JSON.
 */
export function parseExact(text: string | Uint8Array): Json {
  return jsonOf(parseTree(typeof text === "string" ? Buffer.from(text) : text, { surrogates: "pass" }));
}

function jsonOf(node: JsonNode): Json {
  switch (node.kind) {
    case "object":
      // The last of repeated members counts, and `__proto__` is a name like any other.
      return Object.fromEntries(node.members.map(({ key, value }) => [key, jsonOf(value)]));
    case "array":
      return node.items.map(jsonOf);
    case "string":
      return node.value;
    case "number":
      return numberOf(Buffer.from(rawOf(node)).toString("latin1"));
    default:
      return node.kind === "null" ? null : node.kind === "true";
  }
}

function numberOf(text: string): number | string {
  const number = Number(text);
  if (Number.isSafeInteger(number) || !Number.isFinite(number)) return number;
  const integer = readInteger(text);
  return integer === undefined ? number : String(integer);
}

const NUMBER = /^(-?)(0|[1-9]\d{0,30})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** A whole number in any spelling of JSON (`10`, `1.0e1`), exactly; undefined for any other text and for more than some 130 digits. */
export function readInteger(text: string): bigint | undefined {
  const [whole, sign = "", before = "", after = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const shift = Number(exponent) - after.length;
  const digits = `${before}${after}`;
  if (shift >= 0) return BigInt(`${sign}${digits}${"0".repeat(shift)}`);
  const cut = Math.max(digits.length + shift, 0);
  return /^0*$/.test(digits.slice(cut)) ? BigInt(`${sign}${digits.slice(0, cut) || "0"}`) : undefined;
}
