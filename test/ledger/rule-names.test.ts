import { describe, expect, test } from "vitest";
import { createIdentity, type IdentityOptions } from "../../src/ledger/identity.ts";
import { missedNames, missedText } from "../../src/ledger/rule-names.ts";
import { EVERY_REQUEST } from "../../src/rules/rule.ts";

const PLAIN: IdentityOptions = { identify: ["header:x-client"], names: [], hash: false, exclude: [], key: "k" };

/** What is said of a rule that names `client`, and the ledger's name. */
function missed(client: string, options: Partial<IdentityOptions> = {}, knows: readonly string[] = []) {
  const identity = createIdentity({ ...PLAIN, ...options });
  const rule = { name: "few", match: { ...EVERY_REQUEST, clients: new Set([client]) } };
  const [found, ...more] = missedNames([rule], identity, knows);
  expect(more).toEqual([]);
  return found && { ledger: found.ledger, text: missedText(found) };
}

const NAMED = { names: ["ci-bot=ci@example.com"] };

describe("a rule that names a client otherwise than the ledger", () => {
  test.each<[string, string, Partial<IdentityOptions>, string]>([
    ["upper case of a user agent", "Terraform", { identify: ["user-agent"] }, "terraform"],
    ["version of a user agent", "terraform/1.5", { identify: ["user-agent"] }, "terraform"],
    ["identity that has a name", "ci@example.com", NAMED, "ci-bot"],
    ["text that is not ASCII", "café", {}, "raw:café"],
    ["reserved name", "other", {}, "raw:other"],
    ["raw: before what needs none", "raw:ann", {}, "ann"],
    ["clear name where hashes are kept", "ann", { hash: true }, "h-9e53ba1d6e5f5c3b"],
  ])("is told the ledger's name: %s", (_, client, options, ledger) => {
    const found = missed(client, options);
    if (ledger.startsWith("h-")) expect(found?.ledger).toMatch(/^h-[0-9a-f]{16}$/);
    else expect(found?.ledger).toBe(ledger);
    expect(found?.text).toContain(`write client: ${JSON.stringify(found?.ledger)}`);
  });

  test("is told the name that the ledger has in another case", () => {
    expect(missed("Ann", {}, ["ann"])?.ledger).toBe("ann");
    expect(missed("Ann", {}, ["ann", "Ann"])).toBeUndefined();
  });

  test("is told of another client that uses the configured name", () => {
    expect(missed("ci-bot", NAMED, ["ci-bot"])).toBeUndefined();
    expect(missed("ci-bot", NAMED, ["raw:ci-bot"])).toEqual({
      ledger: "raw:ci-bot",
      text: "rule few: another client calls itself ci-bot, and the ledger calls it raw:ci-bot: the rule takes only the ci-bot of clients.names; add raw:ci-bot to the rule, if it is meant as well",
    });
  });

  test("is told of names that no client can have", () => {
    expect(missed("a".repeat(129))?.text).toContain("more than 128");
    expect(missed("ann", { identify: ["header:authorization"] })?.text).toContain("clients.identify reads credentials");
  });

  test("is told of an excluded client, and whether the rule takes its requests", () => {
    expect(missed("probe", { exclude: ["probe*"] })?.text).toContain("takes its requests all the same");
    expect(missed("probe", { exclude: ["probe*"], hash: true })?.text).toContain("takes no request of it");
  });
});

test.each<[string, Partial<IdentityOptions>]>([
  ["ann", {}],
  ["unknown", {}],
  ["ci-bot", NAMED],
  ["raw:ci-bot", NAMED],
  ["raw:café", {}],
  ["h-0123456789abcdef", { hash: true }],
  ["h-0123456789abcdef", { identify: ["header:authorization"] }],
  ["terraform", { identify: ["user-agent"] }],
])("nothing is said of %s, which the ledger calls so", (client, options) => {
  expect(missed(client, options)).toBeUndefined();
});
