/** Wrong enum entries, filters, joins and operations. Changes that no client could notice are left out. */
import type { EnumValue, Filter, Join, Operation, Resource } from "../../src/model/resource.ts";
import type { Change, Found, Place } from "./change.ts";
import type { Use } from "./uses.ts";

/**
 * Without a name in one of the versions it is as unknown there as an undeclared name; a single filter's zero means no filter
 * and is not sent. v1 only takes numbers, and v2's are only read.
 */
export function entryChanges([v1, v1Number, v2, v2Number]: EnumValue, place: Place, { body, answer }: Use): Change[] {
  const put = (what: string, value: EnumValue): Change => ({ what: `${v1} ${what}`, place, value });
  if (v1 === null || v2 === null) return [];
  const changes: Change[] = [put("v1 renamed", [`${v1}_OTHER`, v1Number, v2, v2Number])];
  if (body || answer || v1Number !== 0) changes.push(put("v2 renamed", [v1, v1Number, `${v2}_OTHER`, v2Number]));
  if (!answer || body) if (v1Number >= 0) changes.push(put("v1 number", [v1, v1Number + 1000, v2, v2Number]));
  if (answer && v2Number >= 0) changes.push(put("v2 number", [v1, v1Number, v2, v2Number + 1000]));
  return changes;
}

/** `sent`: not only read, as a create reads the parameter that says what it may do. */
export function filterChanges({ it: filter, place }: Found<Filter>, sent: boolean): Change[] {
  const changes: Change[] = [
    { what: "v1 renamed", place: [...place, "v1"], value: `${filter.v1}_other` },
    { what: "taken away", place, value: undefined },
  ];
  if (sent && "v2" in filter)
    changes.push({ what: "v2 renamed", place: [...place, "v2"], value: `${filter.v2}_other` });
  if (filter.use === "inverted")
    changes.push({ what: "not inverted", place, value: { v1: filter.v1, use: "send", v2: filter.v2, kind: "bool" } });
  if (filter.use === "send") {
    const kind = filter.kind === "string" ? "bool" : "string";
    changes.push({ what: `kind ${kind}`, place: [...place, "kind"], value: kind });
    if (filter.local !== undefined) changes.push({ what: "not local", place: [...place, "local"], value: undefined });
  }
  if (filter.use === "send" || filter.use === "enum")
    changes.push({ what: "repeated", place: [...place, "repeated"], value: filter.repeated ? undefined : true });
  return changes;
}

export function joinChanges({ it: join, place }: Found<Join>): Change[] {
  const changes: Change[] = [
    { what: "by another uid", place: [...place, "by"], value: `${join.by}Other` },
    { what: "into another member", place: [...place, "v1"], value: `${join.v1}Other` },
    { what: "taken away", place, value: undefined },
  ];
  for (const missing of ["error", "zero"])
    if (join.missing !== missing)
      changes.push({ what: `missing ${missing}`, place: [...place, "missing"], value: missing });
  if (join.take !== "record")
    changes.push({
      what: "take another member",
      place: [...place, "take", "member"],
      value: `${join.take.member}Other`,
    });
  if (join.read !== undefined) changes.push({ what: "read by list", place: [...place, "read"], value: undefined });
  if (join.sub !== undefined) changes.push({ what: "of itself", place: [...place, "sub"], value: undefined });
  if (join.when !== undefined) changes.push({ what: "always", place: [...place, "when"], value: undefined });
  return changes;
}

/**
 * Its names in the paths and the answers of both versions. v2's spelling is a v1 path as well; the key is for reading, no request
 * is served by it.
 */
export function resourceChanges({ it: resource, place }: Found<Resource>): Change[] {
  const words = ["v2", "items", ...(resource.v1 === resource.v2 ? [] : ["v1"])] as ("v1" | "v2" | "items")[];
  return words.map((word) => ({ what: `${word} renamed`, place: [...place, word], value: `${resource[word]}Other` }));
}

export function operationChanges({ it: operation, place }: Found<Operation>): Change[] {
  const changes: Change[] = [{ what: "taken away", place, value: undefined }];
  if ("path" in operation && operation.kind !== "native") {
    changes.push({ what: "another path", place: [...place, "path"], value: `${operation.path}Other` });
    const method = operation.method === "POST" ? "PATCH" : "POST";
    changes.push({ what: "another method", place: [...place, "method"], value: method });
  }
  if (operation.kind === "call") {
    const method = operation.v2.method === "POST" ? "PATCH" : "POST";
    changes.push({ what: "another v2 path", place: [...place, "v2", "path"], value: `${operation.v2.path}Other` });
    changes.push({ what: "another v2 method", place: [...place, "v2", "method"], value: method });
  }
  if (operation.kind === "composite") {
    if (operation.v2 !== undefined)
      changes.push({ what: "another v2 path", place: [...place, "v2"], value: `${operation.v2}Other` });
    if (operation.wrap !== undefined)
      changes.push({ what: "another wrapper", place: [...place, "wrap"], value: `${operation.wrap}Other` });
  }
  if (operation.kind === "create" && operation.emptyParent === true)
    changes.push({ what: "only with a parent", place: [...place, "emptyParent"], value: undefined });
  if ("body" in operation && operation.body !== undefined && operation.kind === "call")
    changes.push({ what: "no body", place: [...place, "body"], value: undefined });
  if ("by" in operation && operation.kind !== "composite")
    changes.push({ what: "by one call", place: [...place, "by"], value: undefined });
  return changes;
}
