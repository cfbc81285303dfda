/** How does one v1 PUT become the writes of a record and of its part in a sub-resource? (Traps T10, T11, T56, T57, T61.) */
import type { JsonObject } from "../../model/json.ts";
import type { ApiResponse } from "../../model/message.ts";
import { errorAnswer } from "../error.ts";
import { answerWith, readHeaders, writeHeaders } from "../headers.ts";
import type { Parts } from "../parts.ts";
import { mayYield, namingHeader, type Patched, parseRecord, patchAt, sendPatch, settle } from "../patch.ts";
import { isSuccess, STATE_UNKNOWN } from "../records.ts";
import { readStored } from "../replace.ts";
import type { Tools, V1Request } from "../tools.ts";
import { buildPatch, isSynced, needsStored, type Patch } from "../update.ts";
import type { Composite } from "./composite.ts";
import { refuseChanges } from "./fixed.ts";
import { refusedAfter, writeAfter } from "./partial.ts";
import { createWhole, type Whole, type Wish } from "./record-with-sub.ts";

/** A full replace of the record in the path, and of its part when the client sends another one. */
export const createReplaceWithSub: Composite = (operation, parts) => {
  const whole = createWhole(operation, parts);
  return async (request, tools) => {
    const wish = whole.wish(request, tools);
    return replaceWhole({ whole, parts, wish, uid: request.match.uid, stored: undefined }, request, tools);
  };
};

/** One full replace. */
export interface Replacement {
  readonly whole: Whole;
  readonly parts: Parts;
  readonly wish: Wish;
  readonly uid: string;
  /** The v2 record, where it was read already. */
  readonly stored: JsonObject | undefined;
}

/**
 * Both places are read, then the part is written if it differs: it is what needs the further capability, and nothing else
 * is done when it is refused. Then the record. Repeating the request after a failure writes what is still missing.
 */
export async function replaceWhole(replacement: Replacement, request: V1Request, tools: Tools): Promise<ApiResponse> {
  const { whole, parts, wish, uid } = replacement;
  // Before anything is asked: a condition is only good for one call.
  writeHeaders(request.headers, "several");
  const [before, held] = await readBoth(replacement, request, tools);
  if (before?.kind === "refused") return errorAnswer(before.response, parts.names);
  if (held.kind === "refused") return errorAnswer(held.response, parts.names);
  const stored = before?.record ?? replacement.stored;
  refuseChanges(wish.fixed, stored ?? {});
  const synced = isSynced(whole.rows, stored);
  const part = await whole.part.write(uid, wish.part, { record: held.record, synced }, request, tools);
  if (part.kind === "refused") return part.answer;
  const done = part.effect.patch.asked.length > 0 ? whole.part.join.v1 : undefined;
  return writeAfter(done, tools, async () => {
    const { patch, response, spelling } = await writeRecord(replacement, stored, request, tools);
    if (!isSuccess(response)) return refusedAfter(done, errorAnswer(response, parts.names), tools);
    notePatches([part.effect.patch, patch], tools);
    const shown = whole.show(response, uid, part.effect.record, tools);
    const record = parseRecord(response, STATE_UNKNOWN);
    const names = settle([{ patch, record, spelling }, part.effect], parts, tools);
    return answerWith(response, 200, shown, namingHeader(names));
  });
}

/** One PATCH; once more without what the client merely left out, where the platform refuses to clear that. */
async function writeRecord(
  { whole, wish, uid }: Replacement,
  stored: JsonObject | undefined,
  request: V1Request,
  tools: Tools,
): Promise<Patched & { readonly patch: Patch }> {
  const path = `${whole.collection}/${uid}`;
  const headers = writeHeaders(request.headers, "several");
  const write = async (patch: Patch) => {
    if (patch.asked.length === 0) return { patch, ...(await readInstead(path, request, tools)) };
    return { patch, ...(await sendPatch(patch, patchAt(path, patch, headers), tools, tools.mask)) };
  };
  const written = await write(buildPatch(whole.rows, wish.body, stored));
  if (!mayYield(written.patch, written.response)) return written;
  tools.exchange.notes.push("clear-refused");
  return write(buildPatch(whole.rows, wish.body, stored, { yields: true }));
}

/** The record, where something asks for it and it was not read already, and its part. */
function readBoth({ whole, wish, uid, stored }: Replacement, request: V1Request, tools: Tools) {
  const needed = stored === undefined && (needsStored(whole.rows, wish.body) || wish.fixed.length > 0);
  return Promise.all([
    needed ? readStored(`${whole.collection}/${uid}`, request, tools) : undefined,
    whole.part.read(uid, request, tools),
  ]);
}

/** Nothing of the record itself is to be written: an empty mask would mean everything, so it is shown as it is. */
async function readInstead(target: string, { headers }: V1Request, tools: Tools): Promise<Patched> {
  tools.exchange.notes.push("update-empty");
  return {
    response: await tools.send({ method: "GET", target, headers: readHeaders(headers) }),
    spelling: undefined,
  };
}

function notePatches(patches: readonly Patch[], { exchange }: Tools): void {
  for (const { defaulted, leftAlone } of patches) {
    exchange.defaultedFields.push(...defaulted);
    exchange.notes.push(...leftAlone.map(() => "field-left-alone"));
  }
}
