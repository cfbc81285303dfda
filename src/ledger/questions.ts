/** What does the ledger have to know of the catalogue? */
import type { Operation, Resource } from "../model/resource.ts";

/** Two questions about an operation by its names, as an `Exchange` has them. */
export interface Questions {
  /** v2 has no such operation, or carryover knows none: without native v1 nobody serves it. */
  readonly lacks: (resource: string, operation: string) => boolean;
  /** Its body, or the length of its answer, says how hard its client is to move: a list that v1 gave whole, a full replace. */
  readonly tells: (resource: string, operation: string) => boolean;
}

/** The answers for `resources`. */
export function createQuestions(resources: readonly Resource[]): Questions {
  const telling = new Map<string, ReadonlyMap<string, boolean>>(
    resources.map((resource) => [
      resource.name,
      new Map(
        resource.operations.filter(isServed).map((operation) => [operation.name, isTelling(resource, operation)]),
      ),
    ]),
  );
  return {
    lacks: (resource, operation) => telling.get(resource)?.has(operation) !== true,
    tells: (resource, operation) => telling.get(resource)?.get(operation) === true,
  };
}

/** A path that v1 itself lacks is none that its clients could miss. */
function isServed(operation: Operation): boolean {
  return operation.kind !== "native" || operation.extension === true;
}

function isTelling({ list }: Resource, operation: Operation): boolean {
  if (operation.kind === "list") return list === "drain";
  return replaces(operation);
}

/** True for what v1 replaces as a whole: fields that are left out become zero. */
export function replaces(operation: Operation): boolean {
  return operation.kind === "update" || (operation.kind === "composite" && operation.by === "update-wrapped");
}
