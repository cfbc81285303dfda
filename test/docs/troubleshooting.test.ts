/** Does docs/troubleshooting.md have a section for each alert, and a word on each error? */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { PROBLEMS } from "../../src/model/problem.ts";

const ROOT = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/troubleshooting.md", ROOT), "utf8");

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert?: string }[] }[];
}

/** `CarryoverReloadFailed` as a heading: `Carryover reload failed`. */
function heading(alert: string): string {
  const words = alert.replace(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();
  return words.replace(/^c/, "C");
}

test("it has a section for each alert, in their order, and for no other", () => {
  const file = parse(readFileSync(new URL("helm/files/rules/carryover.yaml", ROOT), "utf8")) as Rules;
  const alerts = file.groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []));
  const sections = [...(page.split("\n## Alerts\n")[1] ?? "").matchAll(/^### (.*)$/gm)].map(([, title]) => title);
  expect(alerts.length).toBeGreaterThan(20);
  expect(sections).toEqual(alerts.map(heading));
});

/** What nobody would look up here: the client sees at once what it did, and nothing else can be the cause. */
const PLAIN: readonly string[] = ["UPGRADE_REFUSED", "INVALID_REQUEST", "ALREADY_EXISTS"];

test("it names every error that can have more than one cause, by its reason or its status", () => {
  const missing = Object.entries(PROBLEMS).filter(
    ([reason, { http }]) => !page.includes(`\`${reason}\``) && !new RegExp(`^\\| [^|]*\\b${http}\\b`, "m").test(page),
  );
  expect(missing.map(([reason]) => reason).filter((reason) => !PLAIN.includes(reason))).toEqual([]);
});
