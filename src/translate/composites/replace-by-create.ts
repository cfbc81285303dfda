/** How is a record replaced that v2 can only create, by name, again? (Traps T13, T14, T60, T61: a tag.) */
import type { JsonObject } from "../../model/json.ts";
import { collectionPath } from "../../model/request.ts";
import { parentOf } from "../../model/uid.ts";
import { errorResponse } from "../error.ts";
import { respondWith, writeHeaders } from "../headers.ts";
import { type Composite, readRequestBody } from "../operation.ts";
import { createRecordRewriter } from "../record-rewriter.ts";
import { mismatchHeader, parseRecord, readStored, verifyPatches } from "../replace.ts";
import { invalidBody } from "../scalars.ts";
import { isSuccess, STATE_UNKNOWN } from "../single-call.ts";
import { buildPatch, type Patch } from "../update.ts";

/** What v2 finds the record by: another name would make a second record. */
const NAME = "name";

/**
 * The record is read, and created under its own name below its own parent once more. What the client left out becomes zero,
 * but where the row says `when-present`: that keeps what is stored (v1 did not blank it, and v2 wants it).
 * Race: a record that is deleted in between is made anew; its other uid shows, and is answered as an error. What is kept is
 * what was read: a writer in between is undone, which no answer shows.
 */
export const createReplaceByCreate: Composite = (operation, parts) => {
  if (operation.kind !== "update") throw new Error(`${operation.name}: ${operation.by} needs an update`);
  const { rows } = operation.body;
  const show = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  const collection = collectionPath(parts.resource, parts.options.version);
  return async (request, tools) => {
    const body = readRequestBody(request.body, rows, parts.options.unknownRequest, tools);
    const headers = writeHeaders(request.headers, "several");
    const { uid } = request.match;
    const stored = await readStored(`${collection}/${uid}`, request, tools);
    if (stored.kind === "refused") return errorResponse(stored.response, parts.names);
    const patch = buildPatch(rows, body, stored.record);
    refuseRename(patch, stored.record);
    const target = `${collection}/${parentOf(uid)}`;
    const response = await tools.send({
      method: "POST",
      target,
      headers,
      body: Buffer.from(withKept(patch, stored.record)),
    });
    if (!isSuccess(response)) return errorResponse(response, parts.names);
    tools.exchange.defaultedFields.push(...patch.defaulted);
    const shown = await show.rewriteOne(response.body, uid, request, tools, STATE_UNKNOWN);
    if (shown.kind === "refused") return errorResponse(shown.response, parts.names);
    const effect = { patch, record: parseRecord(response, STATE_UNKNOWN), spelling: undefined };
    const names = verifyPatches([{ ...effect, patch: { ...patch, leftAlone: [] } }], parts, tools);
    return respondWith(response, 200, shown.bytes, mismatchHeader(names));
  };
};

/** Throws `Problem` INVALID_BODY. */
function refuseRename({ asked }: Patch, stored: JsonObject): void {
  const name = asked.find(({ v1 }) => v1 === NAME);
  if (name !== undefined && JSON.parse(name.raw) !== stored[NAME]) {
    throw invalidBody(NAME, "cannot be changed in v2; create another record and delete this one");
  }
}

/** The body of the create: what is asked for, and what was left out and is kept. */
function withKept(patch: Patch, stored: JsonObject): string {
  const kept = patch.leftAlone.flatMap(({ row: { v2 } }) => {
    const value = v2 === null ? undefined : stored[v2];
    return value === undefined ? [] : [`${JSON.stringify(v2)}:${JSON.stringify(value)}`];
  });
  const asked = patch.body.slice(1, -1);
  return `{${[...kept, ...(asked === "" ? [] : [asked])].join(",")}}`;
}
