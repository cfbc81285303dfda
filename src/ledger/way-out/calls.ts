/** Which v2 call takes the place of a v1 call? (Said by method and path; `docs/coverage.md` says it for all.) */
import type { Operation, Resource } from "../../model/resource.ts";

/** An operation that a client calls, as the catalogue has it. */
export interface Called {
  readonly resource: Resource;
  readonly operation: Operation;
}

const METHODS = { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" } as const;
const V2_METHODS = { ...METHODS, update: "PATCH" } as const;

/** `PUT /iam/v1/groups/{id}`. */
export function v1Call({ resource: { domain, v1 }, operation }: Called): string {
  const base = `/${domain}/v1`;
  if ("path" in operation) return `${operation.method} ${base}/${plain(operation.path)}`;
  return `${METHODS[operation.kind]} ${base}/${v1}${placeOf(operation.kind, "id")}`;
}

/** Markdown; undefined when v2 lacks it. `version`: v2's version segment. */
export function v2Call({ resource: { domain, v2 }, operation }: Called, version: string): string | undefined {
  if (operation.kind === "native") return undefined;
  const base = `/${domain}/${version}`;
  // The catalogue names verbs of the resource's own domain without it.
  if (operation.docs?.calls !== undefined) return operation.docs.calls.replace(VERB, `\`$1 ${base}/$2\``);
  if (operation.kind === "call") return `\`${operation.v2.method} ${base}/${operation.v2.path}\``;
  if (operation.kind === "composite") return `\`${base}/${operation.v2 ?? v2}\``;
  return `\`${V2_METHODS[operation.kind]} ${base}/${v2}${placeOf(operation.kind, "uid")}\``;
}

const VERB = /`(GET|POST|PATCH|DELETE) ([A-Za-z][^`\s]*)`/g;

function placeOf(kind: keyof typeof METHODS, id: string): string {
  if (kind === "list") return "";
  return kind === "create" ? "/{parent}" : `/{${id}}`;
}

/** `repos/{id=**}` → `repos/{id}`. */
function plain(path: string): string {
  return path.replace(/=\*+\}/g, "}");
}
