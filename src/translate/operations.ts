/** Which calls to v2 serve an operation of v1, and how does the answer come back? (Design: v1 as clients see it.) */
import { publishedResource } from "../model/published.ts";
import type { Operation, Resource } from "../model/resource.ts";
import { createCall } from "./call.ts";
import type { CompositeOperation } from "./composites/composite.ts";
import { createComposite } from "./composites.ts";
import { fieldNames } from "./error.ts";
import { createList } from "./list.ts";
import type { Parts } from "./parts.ts";
import { createCreate, createDelete, createGet } from "./records.ts";
import { createReplace } from "./replace.ts";
import type { TranslateOptions, Translation } from "./tools.ts";

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
    const parts: Parts = { resource, resources: byName, options, names: fieldNames(resource) };
    for (const [j, operation] of resource.operations.entries()) {
      const translation = translate(operation, parts);
      const known = resources[i]?.operations[j];
      if (translation !== undefined && known !== undefined) translations.set(known, translation);
    }
  }
  return translations;
}

function translationOf(operation: Operation, parts: Parts): Translation | undefined {
  switch (operation.kind) {
    case "list":
      return createList(operation, parts);
    case "get":
      return createGet(operation, parts);
    case "create":
      return namesComposite(operation) ? createComposite(operation, parts) : createCreate(operation, parts);
    case "update":
      return namesComposite(operation) ? createComposite(operation, parts) : createReplace(operation, parts);
    case "delete":
      return createDelete(parts);
    case "call":
      return createCall(operation, parts);
    case "composite":
      return createComposite(operation, parts);
    case "native":
      return undefined;
    default:
      return operation satisfies never;
  }
}

function namesComposite(operation: Operation): operation is CompositeOperation {
  return "by" in operation;
}
