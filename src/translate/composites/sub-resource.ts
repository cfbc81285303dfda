/** How is the part of a record read and written that v2 keeps in a sub-resource? (Traps T10, T11: a repo's readme.) */
import type { JsonObject } from "../../model/json.ts";
import { collectionPath } from "../../model/match.ts";
import type { ApiResponse } from "../../model/message.ts";
import type { Join, Row } from "../../model/resource.ts";
import { createBodyNotes, readBody, type V2Body } from "../body.ts";
import { errorAnswer, type FieldNames, isTypedRefusal, NOT_THERE } from "../error.ts";
import { readHeaders, writeHeaders } from "../headers.ts";
import { checkKey, V2_KEY } from "../pages.ts";
import type { Parts } from "../parts.ts";
import { type Effect, mayYield, parseRecord, patchAt, sendPatch } from "../patch.ts";
import { isSuccess, STATE_UNKNOWN } from "../records.ts";
import { isZero } from "../same.ts";
import type { Tools, V1Request } from "../tools.ts";
import { buildPatch } from "../update.ts";
import type { CompositeOperation } from "./composite.ts";

/** The record of the sub-resource, or the platform's refusal. */
export type HeldPart =
  | { readonly kind: "held"; readonly record: JsonObject }
  | { readonly kind: "refused"; readonly response: ApiResponse };

/** What was asked for and what is there now, or the answer that says why not. */
export type WrittenPart =
  | { readonly kind: "written"; readonly effect: Effect }
  | { readonly kind: "refused"; readonly answer: ApiResponse };

/** The sub-resource, and whether the record around it is synced. */
interface Held {
  readonly record: JsonObject;
  readonly synced: boolean;
}

/** The one part of a record that lies in a sub-resource. */
export interface Part {
  /** The join that shows it. */
  readonly join: Join;
  /** v2 member of the sub-resource that holds it. */
  readonly member: string;
  /** What a v1 body says of it. An empty one counts as left out: it is what clients were shown when it could not be read. */
  wish(body: Uint8Array): V2Body;
  /** What is stored; an empty record when the platform says that it is missing or not to be read, which is counted. */
  read(uid: string, request: V1Request, tools: Tools): Promise<HeldPart>;
  /**
   * Writes what differs from the `record` that is held: no call at all when nothing does. What a client left out is cleared, unless
   * the record around it is `synced`, or the platform refuses to.
   */
  write(uid: string, wish: V2Body, held: Held, request: V1Request, tools: Tools): Promise<WrittenPart>;
}

/** Throws `Error` for an operation without a joined sub-resource. */
export function createPart(operation: CompositeOperation, parts: Parts): Part {
  const joins = ("joins" in operation ? operation.joins : undefined) ?? [];
  const [join] = joins;
  if (join?.sub === undefined || join.take === "record" || joins.length > 1) {
    throw new Error(`${parts.resource.name} ${operation.name}: ${operation.by} needs one join, of a sub-resource`);
  }
  const { member } = join.take;
  const row: Row = { v1: join.v1, v2: member, kind: "string", zero: "", mask: "unless-synced" };
  const collection = collectionPath(parts.resource, parts.options.version);
  const names: FieldNames = new Map([...parts.names, [member, join.v1]]);
  const pathOf = (uid: string) => `${collection}/${uid}/${join.sub}`;
  return {
    join,
    member,
    wish(body) {
      const { fields } = readBody(body, [row], "drop", createBodyNotes());
      const sent = [...fields].filter(([, { raw }]) => !isZero(JSON.parse(raw)));
      return { fields: new Map(sent), passed: [] };
    },
    async read(uid, request, tools) {
      const response = await tools.send({ method: "GET", target: pathOf(uid), headers: readHeaders(request.headers) });
      if (isTypedRefusal(response, NOT_THERE)) {
        tools.exchange.notes.push("join-missing");
        return { kind: "held", record: {} };
      }
      if (response.status !== 200) return { kind: "refused", response };
      const record = parseRecord(response);
      checkKey(record[V2_KEY], uid);
      return { kind: "held", record };
    },
    async write(uid, wish, { record: held, synced }, request, tools) {
      const patch = buildPatch([row], wish, held, { synced });
      if (patch.asked.length === 0) return { kind: "written", effect: { patch, record: held, spelling: undefined } };
      const headers = writeHeaders(request.headers, "several");
      const { response, spelling } = await sendPatch(patch, patchAt(pathOf(uid), patch, headers), tools, tools.mask);
      if (mayYield(patch, response)) {
        tools.exchange.notes.push("clear-refused");
        const kept = buildPatch([row], wish, held, { synced, yields: true });
        return { kind: "written", effect: { patch: kept, record: held, spelling: undefined } };
      }
      if (!isSuccess(response)) return { kind: "refused", answer: errorAnswer(response, names) };
      const record = parseRecord(response, STATE_UNKNOWN);
      checkKey(record[V2_KEY], uid, STATE_UNKNOWN);
      return { kind: "written", effect: { patch, record, spelling } };
    },
  };
}
