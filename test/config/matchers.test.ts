import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/faults.ts";
import { readMatchers } from "../../src/config/matchers.ts";
import { sharedCatalogue } from "../support/shared.ts";

const read = (text: string) => readMatchers(Buffer.from(text), "m.yaml");

test("a file says how members are compared", () => {
  const text = [
    "group.description: ignore",
    "role.capabilities: set",
    "repo.aliases[]: unordered",
    "advisory.events[].timestamp: { within: 1500ms }",
  ];
  expect(read(text.join("\n")).map(({ resource, path, match, withinMs }) => [resource, path, match, withinMs])).toEqual(
    [
      ["group", "description", "ignore", 0],
      ["role", "capabilities", "set", 0],
      ["repo", "aliases", "unordered", 0],
      ["advisory", "events[].timestamp", "time", 1500],
    ],
  );
});

test("everything that is wrong with the file is named with its line", () => {
  const text =
    "group.description: igonre\ngroups: ignore\nrole.x: { within: 2days }\nrole.y: { within: 1s, or: 2s }\nrole.z:\n";
  expect(() => read(text)).toThrow(
    new ConfigError(
      [
        ["1:1 group.description", 'got "igonre"'],
        ["2:1 groups", "this names no member"],
        ["3:1 role.x", 'got {"within":"2days"}'],
        ["4:1 role.y", 'got {"within":"1s","or":"2s"}'],
        ["5:1 role.z", "got null"],
      ].map(([where = "", what = ""]) => ({
        where: `m.yaml:${where}`,
        what,
        remedy: what.startsWith("this")
          ? "write RESOURCE.PATH, such as group.description"
          : "expected ignore, set, unordered, or within: and a duration such as 5s",
      })),
    ),
  );
  expect(() => read("- group.description")).toThrow("this is not a map of matchers");
  expect(() => read("a: [")).toThrow("m.yaml:1:");
});

test("resources that there are not are named, and a file that is not there", async () => {
  const load = (text: string | undefined) =>
    loadConfig({
      flags: { upstreamV2Url: "http://127.0.0.1:1", shadowMatchersFile: "m.yaml" },
      env: {},
      readFile: (path) => {
        if (text === undefined) throw new Error(`no ${path}`);
        return Buffer.from(text);
      },
    });
  const catalogue = await sharedCatalogue("v2beta1");
  const { requireKnown } = load("grup.name: ignore");
  expect(() => requireKnown(catalogue)).toThrow('m.yaml grup.name: there is no resource "grup"; did you mean group?');
  expect(() => load(undefined)).toThrow("--shadow-matchers-file: m.yaml cannot be read (no m.yaml)");
});
