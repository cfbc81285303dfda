/** Replaces a record that v2 can only create again under the same name: a tag. */

import type { JsonObject } from "../../model/json.ts";
import { collectionPath } from "../../model/request.ts";
import type { Shape } from "../../model/resource.ts";
import { parentOf } from "../../model/uid.ts";
import { errorResponse, isSuccess, STATE_UNKNOWN } from "../error.ts";
import { writeHeaders } from "../headers.ts";
import { type Composite, readRequestBody } from "../operation.ts";
import { createRecordRewriter } from "../record-rewriter.ts";
import { mismatchHeader, parseRecord, readStored, verifyPatches } from "../replace.ts";
import { invalidBody } from "../scalars.ts";
import { buildPatch, type Patch } from "../update.ts";

/** v2 finds the record by its name: another name would make a second record. */
const NAME = "name";

/**
 * The record is read and then created again under its own name and parent. Fields that the client left out become zero,
 * except for rows with `when-present`, which keep the stored value: v1 did not clear them, and v2 requires them.
 * Races: a record deleted in between is created with another uid, which is reported as an error. Kept values are those
 * that were read: a change by another writer in between is undone, and no response shows that.
 */
export const createReplaceByCreate: Composite = (operation, parts) => {
  if (operation.kind !== "update") throw new Error(`${operation.name}: ${operation.by} needs an update`);
  const { rows } = operation.body;
  const rewriter = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  const collection = collectionPath(parts.resource, parts.options.version);
  return async (request, tools) => {
    const body = readRequestBody(request.body, rows, parts.options.unknownRequest, tools);
    const headers = writeHeaders(request.headers, "several");
    const { uid } = request.match;
    const stored = await readStored(`${collection}/${uid}`, request, tools);
    if (stored.kind === "refused") return errorResponse(stored.response, parts.names);
    const patch = buildPatch(rows, body, stored.record);
    refuseRename(patch, stored.record);
    const response = await tools.send({
      method: "POST",
      target: `${collection}/${parentOf(uid)}`,
      headers,
      body: Buffer.from(withKept(patch, stored.record, operation.answer)),
    });
    if (!isSuccess(response)) return errorResponse(response, parts.names);
    tools.exchange.defaultedFields.push(...patch.defaulted);
    return rewriter.respond(response, uid, request, tools, STATE_UNKNOWN, () => {
      const record = parseRecord(response, STATE_UNKNOWN);
      const applied = { patch: { ...patch, leftAlone: [] }, record, spelling: undefined };
      return mismatchHeader(verifyPatches([applied], parts, tools));
    });
  };
};

/** Throws `Problem` INVALID_BODY. */
function refuseRename({ asked }: Patch, stored: JsonObject): void {
  const name = asked.find(({ v1 }) => v1 === NAME);
  if (name !== undefined && JSON.parse(name.raw) !== stored[NAME]) {
    throw invalidBody(NAME, "cannot be changed in v2; create another record and delete this one");
  }
}

/** The body of the create: the fields of the patch, and stored values of those that it leaves unchanged or that v1 does not know. */
function withKept(patch: Patch, stored: JsonObject, { rows, v2Only }: Shape): string {
  const known = new Set([...rows.map(({ v2 }) => v2), ...v2Only]);
  const unknown = Object.keys(stored).filter((name) => !known.has(name));
  const kept = [...patch.leftAlone.map(({ row: { v2 } }) => v2), ...unknown].flatMap((name) => {
    const value = name === null ? undefined : stored[name];
    return value === undefined ? [] : [`${JSON.stringify(name)}:${JSON.stringify(value)}`];
  });
  const asked = patch.body.slice(1, -1);
  return `{${[...kept, ...(asked === "" ? [] : [asked])].join(",")}}`;
}
