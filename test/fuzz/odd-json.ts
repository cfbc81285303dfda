/** JSON bodies of upstream responses, from what was requested to no JSON at all. Bytes as latin1. */

import type { Random } from "../../sandbox/src/seed/prng.ts";
import type { Json } from "../../src/model/json.ts";
import { POISONS, VALUES } from "../support/hostile/json.ts";

type Some<T> = readonly [T, ...T[]];

/** Unexpected members. */
const MORE: Some<string> = [
  ...POISONS,
  '"toString":1',
  '"":{}',
  '"uid":"other"',
  '"id":"other"',
  '"items":[]',
  '"nextPageToken":"again"',
  '"nextPageToken":7',
  '"next_page_token":"x"',
  '"totalCount":"-5"',
  '"totalCount":1e99',
  '"code":5',
  '"error":{"code":5,"message":"m","status":"NOT_FOUND"}',
  `"${"k".repeat(5000)}":1`,
];
/** Whole bodies that are no answer to anything. */
const WHOLE: Some<string> = [
  "",
  " ",
  "null",
  "[]",
  "{}",
  '"text"',
  "1",
  "<html><body>Bad Gateway</body></html>",
  "\xef\xbb\xbf{}",
  "\xff\xfe{\0}\0",
  "{",
  '{"a":',
  "\0\0\0\0\x05hello",
  '{"code":"x","message":7,"details":{}}',
  '{"code":5,"message":null,"details":[null,1,{"@type":7}]}',
  '{"code":99999999999999999999,"message":"m","details":[]}',
  '{"code":16,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"x","domain":"y","metadata":{"a":[]}}]}',
  '{"code":3,"message":"invalid field mask: no such path","details":[]}',
  '{"code":3,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":"x"}]}',
  '{"groups":[]}{"groups":[]}',
  `[${"0,".repeat(30_000)}0]`,
];

/** `good` as JSON, after none to three changes, or something else altogether. */
export function oddJson(good: Json, random: Random): string {
  if (random.chance(0.12)) return random.pick(WHOLE);
  let text = write(good, random, random.int(4), { left: random.int(3) });
  // Another record than the one that was asked for.
  if (random.chance(0.06)) text = text.replace(/"uid":"[^"]*"/, `"uid":"${random.pick(["ff/ff", "a", "A/B", ""])}"`);
  if (random.chance(0.1)) {
    const at = random.int(text.length + 1);
    const byte = random.chance(0.5) ? String.fromCharCode(random.int(256)) : "";
    text = text.slice(0, at) + byte + text.slice(at + random.int(4));
  }
  return text;
}

/** Writes `value`; each node may become another one while there are changes `left`. */
function write(value: Json, random: Random, depth: number, changes: { left: number }): string {
  const here = changes.left > 0 && random.chance(depth <= 0 ? 0.3 : 0.12);
  if (here) {
    changes.left--;
    const how = random.int(3);
    if (how === 0 || typeof value !== "object" || value === null) return random.pick(VALUES);
    if (Array.isArray(value)) return arrayOf(value, random, changes, how);
    return objectOf(Object.entries(value), random, changes, how);
  }
  if (Array.isArray(value)) return `[${value.map((item) => write(item, random, depth - 1, changes)).join(",")}]`;
  if (typeof value !== "object" || value === null) return latin1(JSON.stringify(value));
  return `{${Object.entries(value)
    .map(([key, item]) => `${latin1(JSON.stringify(key))}:${write(item, random, depth - 1, changes)}`)
    .join(",")}}`;
}

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");

function arrayOf(items: readonly Json[], random: Random, changes: { left: number }, how: number): string {
  const written = items.map((item) => write(item, random, 0, changes));
  const added = how === 1 ? random.pick(VALUES) : (written[0] ?? "{}");
  return `[${[...written, added].join(",")}]`;
}

function objectOf(
  members: readonly (readonly [string, Json])[],
  random: Random,
  changes: { left: number },
  how: number,
): string {
  const written = members.map(([key, item]) => `${latin1(JSON.stringify(key))}:${write(item, random, 0, changes)}`);
  if (how === 1) return `{${[...written, random.pick(MORE)].join(",")}}`;
  // One is left out, or comes twice.
  const at = random.int(written.length + 1);
  const one = written[at];
  const rest = written.toSpliced(at, 1);
  return `{${(one === undefined || random.chance(0.6) ? rest : [...written, one]).join(",")}}`;
}
