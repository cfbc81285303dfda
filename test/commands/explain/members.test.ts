import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import type { Json } from "../../../src/model/json.ts";
import type { Resource, Row } from "../../../src/model/resource.ts";
import { explainAnswer } from "../../../src/runtime/explain/answer.ts";
import { examplesOf } from "../../support/examples.ts";
import { explained } from "./support.ts";

const { resources } = await loadCatalogue("v2beta1");

/** Dotted names of everything in `value`; elements of lists under `[]`. */
function namesIn(value: Json, at = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => namesIn(each, `${at}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, held]) => {
    const path = at === "" ? name : `${at}.${name}`;
    return [path, ...namesIn(held, path)];
  });
}

/** What v2 is known to show: in the examples of the catalogue, which come from the specification, and in its rows for v2. */
function known({ name, operations, items }: Resource): Set<string> {
  const shown = examplesOf({ name }).flatMap((example): Json[] => {
    if (example.of === "answer" || example.of === "body") return [example.v2];
    return example.of === "exchange" ? example.calls.flatMap(({ answer }) => [answer]) : [];
  });
  const ofRows = (rows: readonly Row[], at: string): string[] =>
    rows.flatMap((row) => {
      if (row.v2 === null) return [];
      const path = at + row.v2;
      const list = row.kind !== "map" && row.list === true ? "[]" : "";
      return row.kind === "message" ? [path, ...ofRows(row.rows, `${path}${list}.`)] : [path];
    });
  const rows = operations.flatMap((operation) => {
    const isSummary = "by" in operation && operation.by === "summarise";
    return "answer" in operation && !isSummary
      ? [...ofRows(operation.answer.rows, ""), ...operation.answer.v2Only.filter((name) => name !== "group")]
      : [];
  });
  const names = new Set([...shown.flatMap((value) => namesIn(value)), ...rows]);
  for (const name of [...names]) names.add(`${items}[].${name}`);
  return names.add(items).add("nextPageToken").add("totalCount");
}

const AS_IT_IS = { insertZeros: true, recordTimes: "all" } as const;
const answering = resources.flatMap((resource) =>
  resource.operations
    .filter((operation) => "answer" in operation)
    .map((operation) => ({ title: `${resource.name} ${operation.name}`, resource, operation })),
);

describe("every v2 name in a table is one of v2", () => {
  test.each(answering)("$title", ({ resource, operation }) => {
    const names = known(resource);
    const members = explainAnswer(resource, operation, AS_IT_IS).filter(({ becomes }) => becomes !== "cut");
    const strange = members.flatMap(({ v2 }) => v2).filter((path) => !names.has(path.replace(/\/\.\.$/, "")));
    expect(strange).toEqual([]);
  });
});

describe("no member is both shown and said not to be", () => {
  test.each(answering)("$title", ({ resource, operation }) => {
    const members = explainAnswer(resource, operation, AS_IT_IS);
    const cut = members.flatMap(({ becomes, v2 }) => (becomes === "cut" ? v2 : []));
    const shown = members.flatMap(({ becomes, v2 }) => (becomes === "cut" ? [] : v2));
    expect(cut.filter((name) => shown.some((path) => path.split(/[.[/]/)[0] === name))).toEqual([]);
  });
});

test("what v1 held in one message and v2 holds apart is shown, member by member", async () => {
  const { answer } = await explained("PATCH /iam/v1/identities/metadata", { updatesOptIn: true });
  const of = (name: string) => answer.find(({ v1 }) => v1 === name);
  expect(of("onboardingQuestions")).toMatchObject({ v2: [], becomes: "moved" });
  expect(JSON.parse(of("onboardingQuestions")?.absent ?? "")).toMatchObject({ product: "", selfServe: false });
  expect(of("onboardingQuestions.product")).toMatchObject({ v2: ["product"], becomes: "moved", absent: '""' });
  expect(of("onboardingQuestions.companyName")).toMatchObject({ v2: ["company"], becomes: "moved" });
  expect(answer.flatMap(({ becomes, v2 }) => (becomes === "cut" ? v2 : []))).toEqual(["uid"]);
});

test("what v2 has no place for is what can go wrong, and what it stores is not", async () => {
  const body = { onboardingQuestions: { companyName: "Acme", jobTitle: "x", providers: ["aws"] }, updatesOptIn: true };
  const { risks, notes } = await explained("PATCH /iam/v1/identities/metadata", body);
  const said = risks.map(({ when }) => when).filter((when) => when.includes("no place"));
  expect(said).toEqual([expect.stringMatching(/^onboardingQuestions\.providers: v2 has no place/)]);
  expect(notes.join()).not.toContain("utmCampaign");
  const without = await explained("PATCH /iam/v1/identities/metadata", { updatesOptIn: true });
  expect(without.risks.filter(({ when }) => when.includes("no place"))).toEqual([]);
});

test("the records of a batch stand in an envelope", async () => {
  const { answer } = await explained("POST /iam/v1/rolebindings/batch/A", [{ identity: "A/i", role: "r" }]);
  expect(answer[0]).toMatchObject({ v1: "roleBindings", v2: ["roleBindings"] });
  expect(answer.find(({ v1 }) => v1 === "roleBindings[].role")?.v2).toEqual([
    "roleBindings[].roleUid",
    "roleBindings[].role.uid",
  ]);
  expect(answer.every(({ v1 }) => v1 === null || v1.startsWith("roleBindings"))).toBe(true);
});

test("what is worked out from a whole list is said in words", async () => {
  const { answer } = await explained("GET /registry/v1/repotagssummary/A");
  const worked = answer.filter(({ becomes }) => becomes === "worked-out");
  expect(worked.map(({ v1, v2, why }) => [v1, v2, why])).toEqual([
    ["id", [], "the uid in the path"],
    ["tagCount", [], "how many records the whole list has"],
    ["lastUpdated", [], "when the record was updated that was updated last"],
    ["latestTag", [], "the record that was updated last"],
    ["latestVersion", [], "the greatest name that is a version (numbers and dots)"],
  ]);
  expect(answer.find(({ v1 }) => v1 === "latestTag.id")?.v2).toEqual(["tags[].uid"]);
  expect(answer.some(({ becomes }) => becomes === "cut")).toBe(false);
});
