/** Which names change in the calls of one client? */
import type { EnumTable, Resource } from "../../model/resource.ts";
import type { Called } from "./calls.ts";
import { type Renamed, renamedEnums, renamedFields } from "./fields.ts";
import { code, table } from "./markdown.ts";
import { changedQueries } from "./queries.ts";

/** Fields, query parameters and what else differs, of the operations of `resource` that are `called`. */
export function resourceSection(resource: Resource, called: readonly Called[]): readonly string[] {
  const operations = called.filter((one) => one.resource === resource).map(({ operation }) => operation);
  const fields = renamedFields(operations);
  const queries = operations.flatMap((one) => ("filters" in one ? changedQueries(one.filters ?? []) : []));
  const notes = operations.flatMap((one) => (one.docs?.differs ?? []).map((text) => `- ${one.name}: ${text}`));
  const lists = operations.some(({ kind }) => kind === "list");
  const key =
    lists && resource.items !== "items"
      ? `A list answers with \`items\` in v1, with ${code(resource.items)} in v2.`
      : "";
  const rest = [
    ...(key === "" ? [] : [key, ""]),
    ...table(["field in v1", "in v2", "where"], fields.map(fieldRow)),
    ...table(
      ["query in v1", "in v2"],
      [...new Map(queries)].map(([v1, v2]) => [code(v1), v2]),
    ),
    ...(notes.length === 0 ? [] : ["Otherwise than in v1:", "", ...notes, ""]),
  ];
  return rest.length === 0 ? [] : [`## ${resource.name}`, "", ...rest];
}

function fieldRow({ v1, v2, answers, requests, note }: Renamed): readonly string[] {
  const place = v2.map(placeWords).join(" or ");
  const where = [
    ...(answers.length === 0 ? [] : [`answers of ${answers.join(", ")}`]),
    ...(requests.length === 0 ? [] : [`requests of ${requests.join(", ")}`]),
  ];
  return [code(v1), [place, note].filter((text) => text !== "").join(": "), where.join("; ")];
}

/** `uid/..` is the parent of that uid. */
function placeWords(path: string): string {
  return path.endsWith("/..") ? `the parent in ${code(path.slice(0, -"/..".length))}` : code(path);
}

/** Values with other names, once for all that is `called`. */
export function enumSection(called: readonly Called[]): readonly string[] {
  const lines = renamedEnums(called.map(({ operation }) => operation)).flatMap(enumLines);
  return lines.length === 0 ? [] : ["## Names of values", "", ...lines];
}

/** Long ones are shown in part: they follow one pattern. */
const MOST_VALUES = 16;

function enumLines({ name, values }: EnumTable): readonly string[] {
  const differing = values.filter(([v1, , v2]) => v1 !== v2);
  const rows = differing
    .slice(0, MOST_VALUES)
    .map(([v1, , v2]) => [v1 === null ? "– (new)" : code(v1), v2 === null ? "– (none)" : code(v2)]);
  const more = differing.length - rows.length;
  return [...table([`${name} in v1`, "in v2"], rows), ...(more > 0 ? [`And ${more} more, named alike.`, ""] : [])];
}
