import { expect, test } from "vitest";
import { parseTree } from "../../src/json/tree.ts";
import { Problem } from "../../src/model/problem.ts";
import type { ScalarKind } from "../../src/model/resource.ts";
import { checkScalar } from "../../src/translate/scalars.ts";

function check(kind: ScalarKind, json: string): void {
  const bytes = Buffer.from(json);
  checkScalar(kind, parseTree(bytes), "it", bytes);
}

type Texts = Partial<Readonly<Record<ScalarKind, readonly string[]>>>;
const TAKEN: Texts = {
  int32: ["1.0", "1e2", "0.5e1", "120e-1", "-0", "0e99", '"2.0e0"'],
  int64: ["1e18", "9223372036854775807.0", "-9223372036854775808", "0.9223372036854775807e19"],
  uint32: ["2147483647"],
  duration: ['"0s"', '"1.5s"', '"+1s"', '"-.000000001s"', '"315576000000s"'],
  bytes: ['""', '"aGk="', '"aGk"', '"-_-_"', '"+/+/"'],
};
const REFUSED: Texts = {
  int32: ["0.5", "15e-1", "1e-1", "1e10", "1e999", "-2147483649", "true", '""', '" 1"', '"1e2 "', '"+1"', '"0x10"'],
  int64: ["9223372036854775808", "9223372036854775807.5", "1e19"],
  uint32: ["-1", "2147483648"],
  duration: ['"s"', '"-s"', '"01s"', '"1m"', '"1.s"', '"1.0000000000s"', '"315576000001s"', '"-999999999999s"'],
  bytes: ['"a"', '"aGk=="', '"aGkx="', '"+_aa"', '"aG k"'],
};
const each = (texts: Texts) =>
  Object.entries(texts).flatMap(([kind, all]) => all.map((text) => [kind as ScalarKind, text] as const));

test.each(each(TAKEN))("%s takes %s", (kind, json) => {
  expect(() => check(kind, json)).not.toThrow();
});

test.each(each(REFUSED))("%s refuses %s", (kind, json) => {
  expect(() => check(kind, json)).toThrow(Problem);
});
