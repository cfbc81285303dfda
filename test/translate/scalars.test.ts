/** Does carryover take the values that v1's decoder took, unless v2 cannot hold them? */
import { expect, test } from "vitest";
import { parseTree } from "../../src/json/tree.ts";
import { Problem } from "../../src/model/problem.ts";
import type { ScalarKind } from "../../src/model/resource.ts";
import { checkScalar } from "../../src/translate/scalars.ts";

function check(kind: ScalarKind, json: string): void {
  const bytes = Buffer.from(json);
  checkScalar(kind, parseTree(bytes), "it", bytes);
}

test.each<[ScalarKind, string]>([
  ["int32", "1.0"],
  ["int32", "1e2"],
  ["int32", "0.5e1"],
  ["int32", "120e-1"],
  ["int32", "-0"],
  ["int32", "0e99"],
  ["int32", '"2.0e0"'],
  ["int64", "1e18"],
  ["int64", "9223372036854775807.0"],
  ["int64", "-9223372036854775808"],
  ["int64", "0.9223372036854775807e19"],
  ["uint32", "2147483647"],
  ["duration", '"0s"'],
  ["duration", '"1.5s"'],
  ["duration", '"+1s"'],
  ["duration", '"-.000000001s"'],
  ["duration", '"315576000000s"'],
  ["bytes", '""'],
  ["bytes", '"aGk="'],
  ["bytes", '"aGk"'],
  ["bytes", '"-_-_"'],
  ["bytes", '"+/+/"'],
])("%s takes %s", (kind, json) => {
  expect(() => check(kind, json)).not.toThrow();
});

test.each<[ScalarKind, string]>([
  ["int32", "0.5"],
  ["int32", "15e-1"],
  ["int32", "1e-1"],
  ["int32", "1e10"],
  ["int32", "1e999"],
  ["int32", '"1e2 "'],
  ["int32", '"+1"'],
  ["int64", "9223372036854775808"],
  ["int64", "9223372036854775807.5"],
  ["int64", "1e19"],
  ["uint32", "-1"],
  ["uint32", "2147483648"],
  ["duration", '"s"'],
  ["duration", '"-s"'],
  ["duration", '"01s"'],
  ["duration", '"1m"'],
  ["duration", '"1.s"'],
  ["duration", '"1.0000000000s"'],
  ["duration", '"315576000001s"'],
  ["duration", '"-999999999999s"'],
  ["bytes", '"a"'],
  ["bytes", '"aGk=="'],
  ["bytes", '"aGkx="'],
  ["bytes", '"+_aa"'],
  ["bytes", '"aG k"'],
])("%s refuses %s", (kind, json) => {
  expect(() => check(kind, json)).toThrow(Problem);
});
