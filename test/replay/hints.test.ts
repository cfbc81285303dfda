import { expect, test } from "vitest";
import { traps } from "../../scripts/docs/traps.ts";
import { hintFor, KNOWN_TRAPS } from "../../src/replay/hints.ts";
import { sharedCatalogue } from "../support/shared.ts";

const { resources } = await sharedCatalogue("v2beta1");

function hint(
  resource: string,
  operation: string,
  what: "extra" | "missing" | "value" | "status",
  path: string,
  translated?: string,
) {
  const found = resources.find(({ name }) => name === resource)?.operations.find(({ name }) => name === operation);
  if (found === undefined) throw new Error(`there is no ${operation} of ${resource}`);
  const recordTimes = what === "missing" ? "published" : "all";
  const { set, trap } = hintFor({ class: what, path }, { resource, operation: found, translated, recordTimes });
  return [set, trap?.slice(0, 7)];
}

test("traps have the words of docs/traps.md", () => {
  const words = new Map(traps.map(({ id, trap }) => [id, trap]));
  for (const { id, trap } of KNOWN_TRAPS) expect(trap).toBe(words.get(id));
});

test.each([
  ["group", "list", "extra", "items[].createdAt", undefined, "v1.recordTimes: published", "TRAP-41"],
  ["group", "list", "missing", "items[].createdAt", undefined, "v1.recordTimes: all", "TRAP-41"],
  ["group", "list", "extra", "items[].colour", undefined, "unknownFields.response: drop", undefined],
  ["group", "list", "missing", "items[]", undefined, undefined, "TRAP-02"],
  ["group", "list", "value", "items[].kind", undefined, undefined, "TRAP-32"],
  ["group", "list", "status", "status", "404", undefined, "TRAP-03"],
  ["group", "list", "status", "status", "502 UPSTREAM_INVALID", undefined, undefined],
  ["role", "list", "value", "items[].capabilities[]", undefined, undefined, "TRAP-04"],
] as const)(
  "what is behind a difference of %s %s, %s %s (%s)",
  (resource, operation, what, path, translated, set, trap) => {
    expect(hint(resource, operation, what, path, translated)).toEqual([set, trap]);
  },
);
