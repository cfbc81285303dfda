/** The names that `--resource` and `--client` may give. */
import { catalogueVersions, loadCatalogue } from "../../catalogue/catalogue.ts";
import type { InstanceResult } from "../../fleet/merge.ts";
import { matching } from "../../fleet/scope.ts";
import { RAW } from "../../ledger/identity.ts";
import { nearest } from "../../model/text.ts";
import { rulesContext } from "../../rollout/rules-file.ts";
import { resourceNamed } from "../../rules/conditions/subject.ts";
import { oneLine } from "../terminal.ts";

/** The catalogue's name of a resource that is given as rules may name it, or as metrics do; undefined for none. */
export async function readResource(
  text: string | undefined,
): Promise<{ readonly name: string | undefined } | { readonly fault: string }> {
  if (text === undefined) return { name: undefined };
  const catalogues = await Promise.all((await catalogueVersions()).map((version) => loadCatalogue(version)));
  const known = new Map(catalogues.flatMap(({ resources }) => resources.map((one) => [one.name, one])));
  const context = { name: "", native: true, now: 0, expired: "warn" } as const;
  const { resources } = rulesContext({ resources: [...known.values()] }, context);
  const natives = catalogues.flatMap((one) => one.natives.flatMap(({ operations }) => operations));
  const others = [...new Set(natives.map(({ resource }) => resource))].map((name) => ({
    name,
    aliases: [],
    operations: [],
  }));
  const found = resourceNamed(text, [...resources, ...others]);
  if (typeof found !== "function") return { name: found.name };
  const { what, remedy } = found();
  return { fault: `--resource: ${oneLine(what)}; ${oneLine(remedy)}` };
}

/** What is wrong with `wanted`: undefined if some instance knows such a client, or if none was heard. */
export function unknownClient(wanted: string | undefined, results: readonly InstanceResult[]): string | undefined {
  const heard = results.flatMap((one) => ("fault" in one ? [] : [one.progress]));
  if (wanted === undefined || heard.length === 0) return undefined;
  const names = [...new Set(heard.flatMap(({ ledger }) => ledger.clients.map(({ name }) => name)))];
  if (names.some(matching(wanted, names))) return undefined;
  // `raw:ci-bot`: a client that calls itself by a configured name, which belongs to another identity.
  const near = names.find((name) => name === `${RAW}${wanted}`) ?? nearest(wanted, names);
  const remedy = near === undefined ? "carryover report lists those that it knows" : `did you mean ${near}?`;
  return oneLine(`no instance that responded knows a client ${JSON.stringify(wanted)}; ${remedy}`);
}
