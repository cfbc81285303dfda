/** How does v2 show advisories? (Specification section 4; field map 2.14 and 3.12.) */

import { type JsonObject, member } from "../json.ts";
import { advisories, advisoryTests, numbers, texts } from "../resources/advisories.ts";
import type { RecordTest } from "../store/select.ts";
import type { V2Face } from "./face.ts";

const TEXTS: readonly (readonly [parameter: string, field: string])[] = [
  ["advisoryIds", "advisoryId"],
  ["legacyAdvisoryIds", "legacyAdvisoryId"],
  ["artifactNames", "artifactName"],
  ["artifactTypes", "artifactType"],
  ["artifactArchitectures", "artifactArchitecture"],
  ["componentNames", "componentName"],
  ["componentTypes", "componentType"],
  ["componentLocations", "componentLocation"],
];

/** A word looked for in the names of an advisory. */
function queryTest(request: JsonObject): readonly RecordTest[] {
  const word = String(member(request, "query") ?? "").toLowerCase();
  if (word === "") return [];
  return [
    (record) => {
      const names = ["advisoryId", "artifactName", "componentName"].map((key) => member(record.value, key));
      return [...names, ...texts(record.value, "aliases")].some((name) =>
        String(name ?? "")
          .toLowerCase()
          .includes(word),
      );
    },
  ];
}

export const advisoriesV2: V2Face = {
  resource: advisories,
  domain: "vulnerabilities",
  collection: "advisories",
  operations: ["list", "get"],
  listRequest: "ListAdvisoriesRequest",
  order: "uid",
  tests: (request) => [
    ...advisoryTests({
      texts: new Map(TEXTS.map(([parameter, field]) => [field, texts(request, parameter)])),
      aliases: texts(request, "aliases"),
      authors: texts(request, "eventAuthors"),
      notAuthors: texts(request, "excludeEventAuthors"),
      reviewers: texts(request, "eventReviewers"),
      states: numbers(request, "eventReviewStates"),
      types: numbers(request, "eventTypes"),
      latest: Number(member(request, "latestEventType") ?? 0),
      origin: String(member(request, "origin") ?? ""),
    }),
    ...queryTest(request),
  ],
};
