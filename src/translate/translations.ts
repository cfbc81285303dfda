/** Builds the translation of every operation: which calls to v2 serve it, and how their responses become v1's. */

import { type CompositeName, type Operation, publishedResource, type Resource } from "../model/resource.ts";
import { createBatch } from "./composites/create-batch.ts";
import { createListMember, createLookUp } from "./composites/read-record.ts";
import { createReplaceByCreate } from "./composites/replace-by-create.ts";
import { createCreateOrReplace, createReplaceWithSub } from "./composites/sub-resource-writes.ts";
import { createSummarise } from "./composites/summarise.ts";
import { createUpdateWrapped } from "./composites/update-wrapped.ts";
import { fieldNames } from "./error.ts";
import { createList } from "./list.ts";
import type { Composite, ResourceContext, TranslateOptions, Translation } from "./operation.ts";
import { createReplace } from "./replace.ts";
import { createCall, createCreate, createDelete, createGet } from "./single-call.ts";

export type Translate = typeof createTranslations;

/**
 * The translation of every operation that has one. `resources`: all of the catalogue, for joins. Throws `Error` for a catalogue that
 * contradicts itself.
 */
export function createTranslations(
  resources: readonly Resource[],
  options: TranslateOptions,
): ReadonlyMap<Operation, Translation> {
  return translationsBy(translationOf, resources, options);
}

/** The same, each compiled by its first request: most processes are asked for a few operations only, and start sooner. */
export const createTranslationsOnUse: Translate = (resources, options) => {
  const onUse: typeof translationOf = (operation, parts) => {
    if (operation.kind === "native") return undefined;
    let made: Translation | undefined;
    return (request, tools) => {
      made ??= translationOf(operation, parts);
      if (made === undefined) throw new Error(`${parts.resource.name} ${operation.name}: it has no translation`);
      return made(request, tools);
    };
  };
  return translationsBy(onUse, resources, options);
};

function translationsBy(
  translate: typeof translationOf,
  resources: readonly Resource[],
  options: TranslateOptions,
): ReadonlyMap<Operation, Translation> {
  const shown = options.recordTimes === "published" ? resources.map(publishedResource) : resources;
  const byName = new Map(shown.map((resource) => [resource.name, resource]));
  const translations = new Map<Operation, Translation>();
  for (const [i, resource] of shown.entries()) {
    const parts: ResourceContext = { resource, resources: byName, options, names: fieldNames(resource) };
    for (const [j, operation] of resource.operations.entries()) {
      const translation = translate(operation, parts);
      const known = resources[i]?.operations[j];
      if (translation !== undefined && known !== undefined) translations.set(known, translation);
    }
  }
  return translations;
}

function translationOf(operation: Operation, parts: ResourceContext): Translation | undefined {
  if ("by" in operation && operation.by !== undefined) return COMPOSITES[operation.by](operation, parts);
  switch (operation.kind) {
    case "list":
      return createList(operation, parts);
    case "get":
      return createGet(operation, parts);
    case "create":
      return createCreate(operation, parts);
    case "update":
      return createReplace(operation, parts);
    case "delete":
      return createDelete(parts);
    case "call":
      return createCall(operation, parts);
    default:
      return undefined;
  }
}

/** Operations that take several calls to v2, or a body that rows alone cannot describe; the catalogue names them. */
const COMPOSITES: Readonly<Record<CompositeName, Composite>> = {
  "create-batch": createBatch,
  "create-or-replace": createCreateOrReplace,
  "list-member": createListMember,
  "look-up": createLookUp,
  "replace-by-create": createReplaceByCreate,
  "replace-with-sub": createReplaceWithSub,
  summarise: createSummarise,
  "update-wrapped": createUpdateWrapped,
};
