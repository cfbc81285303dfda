/** How does v2 show repos and their readmes? (Specification section 4; field map 2.11 and 3.10.) */

import type { Caller } from "../auth/caller.ts";
import type { Context } from "../context.ts";
import type { Call, Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { forbidden, invalid } from "../refusal.ts";
import { guardedChange, repos } from "../resources/repos.ts";
import { readable, updateRecord } from "../resources/writes.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { RecordTest } from "../store/select.ts";
import { encodeMessage } from "../wire/encode.ts";
import { V2 } from "../wire/schemas.ts";
import { decodeBody, patchPaths, type V2Face } from "./face.ts";

/** The name has presence here: an empty one is a filter for the empty name (trap T43). */
function tests(request: JsonObject): readonly RecordTest[] {
  const name = member(request, "name");
  return name === undefined ? [] : [(record) => (member(record.value, "name") ?? "") === name];
}

/** Throws when the caller may not change a field that this update changes (`repoGuard`). */
function guard(next: JsonObject, before: StoredRecord | undefined, { settings }: Context, caller: Caller): void {
  if (before === undefined || caller.staff || settings.repoGuard === "readme") return;
  const changed = guardedChange(before.value, next);
  if (changed === undefined) return;
  if (settings.repoGuard === "forbid") throw forbidden();
  const path = V2.message("Repo").byKey.get(changed)?.proto;
  throw invalid("update_mask", `${JSON.stringify(path)} takes the capability repo.internal.admin`);
}

export const reposV2: V2Face = {
  resource: repos,
  domain: "registry",
  collection: "repos",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListReposRequest",
  order: "uid",
  tests,
  demand: guard,
};

function readmeText(context: Context, record: StoredRecord): string {
  const readme = { uid: record.uid, content: member(record.extra, "readme") ?? "" };
  return encodeMessage(V2, V2.message("RepoReadme"), readme, { omitZeros: context.settings.omitZeros });
}

/** `GET` and `PATCH repos/{uid}/readme`. Writing it takes an internal capability: it is for staff. */
export function readmeRoutes(context: Context): readonly Route[] {
  const at = {
    domain: "registry",
    version: context.settings.version,
    collection: "repos",
    shape: "suffix" as const,
    word: "readme",
  };
  const read = (call: Call) => (caller: Caller) => readmeText(context, readable(context, repos, caller, call.tail));
  const write = (call: Call): ReturnType<Route["prepare"]> => {
    const message = V2.message("RepoReadme");
    const { given, node } = decodeBody(message, call.body);
    const paths = patchPaths(context, message, node, call.query);
    return (caller) => {
      if (!caller.staff) throw forbidden();
      const named = paths().some((path) => path[0]?.json === "content");
      const record = updateRecord(context, repos, caller, call.tail, (before) => {
        const { readme: old, ...rest } = before.extra;
        const content = named ? (member(given, "content") ?? "") : (old ?? "");
        return { value: before.value, extra: content === "" ? rest : { ...rest, readme: content } };
      });
      return readmeText(context, record);
    };
  };
  return [
    { ...at, method: "GET", prepare: read },
    { ...at, method: "PATCH", prepare: write },
  ];
}
