import { describe, expect, test } from "vitest";
import { type CatalogueFile, faultsOf } from "../../../src/catalogue/check.ts";
import type { Join } from "../../../src/model/resource.ts";
import { faultsAfter, type Open, operation, small } from "./small.ts";

function other(change: (resource: ReturnType<typeof small>["resource"]) => void): CatalogueFile {
  const { resource } = small();
  Object.assign(resource, { name: "bush", v1: "bushes", v2: "bushes" });
  change(resource);
  return { file: "bush.ts", resource };
}

describe("files", () => {
  test("a folder without resources is refused", () => {
    expect(faultsOf([], [], new Map())).toEqual([
      "catalogue: the folder holds no resource; add a file or correct the folder",
    ]);
  });

  test("two files of one resource are refused", () => {
    const faults = faultsAfter(
      () => undefined,
      [{ file: "tree.js", resource: other((resource) => Object.assign(resource, { name: "tree" })).resource }],
    );
    expect(faults).toEqual(["tree: two files describe this resource; remove one"]);
  });

  test.each([
    ["v1", "/iam/v1/trees"],
    ["v2", "/iam/v2/bigTrees"],
  ] as const)("two resources with one %s collection are refused", (version, path) => {
    const faults = faultsAfter(
      () => undefined,
      [
        other((resource) => {
          resource[version] = version === "v1" ? "trees" : "bigTrees";
        }),
      ],
    );
    expect(faults).toContain(`${path}: two resources have this collection; correct one`);
  });

  test("two operations with one path are refused, whatever their variables are called", () => {
    const natives = [
      { domain: "iam", operations: [{ resource: "x", name: "y", method: "PUT", path: "trees/{it=**}" }] },
    ];
    expect(faultsAfter(() => undefined, [], natives)).toEqual([
      "PUT /iam/v1/trees/{=**}: two operations have this path; remove one",
    ]);
  });

  test("two operations with one name are refused", () => {
    const faults = faultsAfter((resource) => {
      resource.operations.push({ kind: "native", name: "get", method: "GET", path: "trees:get" });
    });
    expect(faults).toEqual(["tree.ts: operation get: it is there twice; remove one"]);
  });

  test("an answer without the key is refused", () => {
    const faults = faultsAfter((resource) => {
      resource.key = "uid";
    });
    expect(faults).toContain(
      "tree.ts: list: uid: it is the key, and no row carries v2's `uid` under this name; add the row",
    );
  });
});

describe("filters", () => {
  test.each([
    ["v1", { v1: "name", use: "send", v2: "label", kind: "string" }, "name: two filters have this v1 name; remove one"],
    ["v2", { v1: "label", use: "send", v2: "name", kind: "string" }, "name: two filters are sent under this v2 name"],
    ["Get", { v1: "uid", use: "get" }, "filters: two of them turn the list into a Get; keep one"],
  ] as const)("two of one %s are refused", (_, filter, fault) => {
    const faults = faultsAfter((resource) => operation(resource, "list").filters.push(filter));
    expect(faults).toEqual([expect.stringContaining(`tree.ts: list: ${fault}`)]);
  });
});

describe("envelopes", () => {
  test("a paged list without one is refused", () => {
    const faults = faultsAfter((resource) => {
      resource.list = "paged";
    });
    expect(faults).toEqual([
      "tree.ts: list: envelope: a paged list has one, a drained list has none; add or remove it",
    ]);
  });

  test("a member that nothing fills is refused, one that repeats a parameter is not", () => {
    const faults = (fromQuery?: string[]): readonly string[] =>
      faultsAfter((resource) => {
        resource.list = "paged";
        const row = { v1: "owner", v2: null, kind: "string", access: "output" } as const;
        operation(resource, "list").envelope = [fromQuery === undefined ? row : { ...row, fromQuery }];
      });
    expect(faults()).toEqual([expect.stringContaining("tree.ts: list: envelope.owner: dead row")]);
    expect(faults(["parent"])).toEqual([]);
  });
});

describe("joins", () => {
  const sound: Join = { v1: "bush", resource: "bush", by: "bush.uid", take: "record", missing: { reduced: "bush" } };
  const faults = (join: Partial<Join>, v2Only = ["bush"]): readonly string[] =>
    faultsAfter(
      (resource) => {
        const get = operation(resource, "get");
        get.answer.rows.push({ v1: "bush", v2: null, kind: "message", rows: [], access: "output" });
        get.answer.v2Only.push(...v2Only);
        get.joins = [{ ...sound, ...join } as Open<Join>];
      },
      [other(() => undefined)],
    );

  test("a sound one fills a row that nothing else fills", () => {
    expect(faults({})).toEqual([]);
  });

  test.each<[promise: string, join: Partial<Join>, fault: string]>([
    ["of a resource that is not there", { resource: "weed" }, "join bush: there is no resource weed; correct the name"],
    ["that takes what the other lacks", { take: { member: "leaf" } }, "join bush: bush has no v2 member leaf"],
    ["by a member that the record lacks", { by: "leaf.uid" }, "join bush: the record has no v2 member leaf"],
    [
      "reduced to a member that it lacks",
      { missing: { reduced: "leaf" } },
      "join bush: the record has no v2 member leaf",
    ],
    ["that fills what v2 sends", { v1: "name" }, "name: a join fills it; give it a row with `v2: null`"],
  ])("one %s is refused", (_, join, fault) => {
    expect(faults(join)).toContainEqual(expect.stringContaining(`tree.ts: get: ${fault}`));
  });
});

describe("volatile members", () => {
  const faultsOfPaths = (...paths: readonly string[]) =>
    faultsAfter((resource) => {
      resource.volatile = [...paths];
    });

  test("one of a row, at any depth, is sound, one that no answer has is refused", () => {
    expect(faultsOfPaths("name", "box.size")).toEqual([]);
    for (const path of ["nam", "box.weight", "name.size", ""]) {
      expect(faultsOfPaths(path)).toEqual([
        `tree.ts: ${path}: it is declared volatile, and no answer has such a row; correct the path`,
      ]);
    }
  });

  test("one that holds several values is refused, and one that is there twice", () => {
    expect(faultsOfPaths("box")).toEqual([
      "tree.ts: box: it is declared volatile and holds more than one value; name the member that changes",
    ]);
    expect(faultsOfPaths("name", "name")).toEqual(["tree.ts: name: it is declared volatile twice; remove one"]);
  });
});
