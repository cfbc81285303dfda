import { expect, test } from "vitest";
import { ids, items, platform, refusal } from "./support.ts";

const here = platform({ size: 250 });

test.each(["EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED", "9"])(
  "TRAP-33, DIFF-47: a list by %s, for which v2 has no word, is refused and not left unfiltered",
  async (value) => {
    for (const name of ["event_types", "latestEventType"]) {
      const answer = await here.ask("GET", `/vulnerabilities/v1/advisories?${name}=${value}`);
      expect([refusal(answer), here.sent]).toEqual([[400, "INVALID_FILTER"], []]);
    }
  },
);

test("TRAP-67, DIFF-08: a platform whose list of identity providers is shadowed answers an error, never an empty list; ids still work", async () => {
  const shadowed = platform({}, { shadowedProviderList: true });
  const { identityProvider } = shadowed.known;
  expect((await shadowed.ask("GET", "/iam/v1/identityProviders")).status).toBeGreaterThanOrEqual(400);
  expect(ids(await shadowed.same("GET", `/iam/v1/identityProviders?id=${identityProvider}`))).toEqual([
    identityProvider,
  ]);
  expect(items(await here.same("GET", "/iam/v1/identityProviders")).length).toBeGreaterThan(5);
});
