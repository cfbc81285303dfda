import { expect, test } from "vitest";
import type { Example } from "../../../src/model/resource.ts";
import { faultsAfter } from "./small.ts";

function faultsOfExample(example: Example): readonly string[] {
  return faultsAfter((_, file) => {
    file.examples = [example];
  });
}

test("a sound resource has no fault", () => {
  expect(faultsAfter(() => undefined)).toEqual([]);
});

test("a resource without examples is refused", () => {
  const faults = faultsAfter((_, file) => {
    file.examples = [];
  });
  expect(faults).toEqual(["tree.ts: examples: there are none; add an answer for each shape"]);
});

test.each<[promise: string, example: Example, fault: string]>([
  [
    "a v1 key in no row is named",
    { of: "answer", operation: "list", v2: {}, v1: { nmae: "" } },
    "examples[0] (answer): the example has nmae, which no row has as its v1 name",
  ],
  [
    "a v2 key in no row is named",
    { of: "answer", operation: "list", v2: { id: "1" }, v1: {} },
    "examples[0] (answer): the example has id, which no row has as its v2 name",
  ],
  [
    "v2's own members are not v1's",
    { of: "answer", operation: "list", v2: {}, v1: { hidden: 1 } },
    "the example has hidden, which no row has as its v1 name",
  ],
  [
    "a key of a nested message is named with its place",
    { of: "answer", operation: "list", v2: { box: { size: 1 } }, v1: {} },
    "examples[0] (answer): box: the example has size, which no row has as its v2 name",
  ],
  [
    "a mask path in no row is named",
    { of: "update", v1: {}, mask: ["box.size"], v2: {} },
    "examples[0] (update): the mask names box.size, which no row has as its v2 name",
  ],
  [
    "a parameter in no filter is named",
    { of: "filters", v1: "nickName=a", v2: "" },
    "examples[0] (filters): the example has the parameter nickName, which no filter has",
  ],
  [
    "a filter that becomes a Get is never sent",
    { of: "filters", v1: "id=a", v2: "id=a" },
    "examples[0] (filters): the example has the parameter id, which no filter has",
  ],
  [
    "an example of an operation that is not translated is refused",
    { of: "body", operation: "create", v1: {}, v2: {} },
    "examples[0] (body): there is no translated operation create",
  ],
])("%s", (_, example, fault) => {
  expect(faultsOfExample(example)).toEqual([expect.stringContaining(fault)]);
});
