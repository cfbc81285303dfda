/** A record with one part in a v2 sub-resource: a repo and its readme. */

import { parseExact } from "../../json/exact.ts";
import { createValueRewriter } from "../../json/rewrite.ts";
import type { ApiResponse } from "../../model/http.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import type { DrainRefused } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";
import { collectionPath } from "../../model/request.ts";
import type { Row, WritableRow } from "../../model/resource.ts";
import { createBodyNotes, readBody, type V2Body } from "../body.ts";
import {
  errorResponse,
  type FieldNames,
  isSuccess,
  isTypedRefusal,
  MISSING_OR_FORBIDDEN,
  STATE_UNKNOWN,
} from "../error.ts";
import { readHeaders, writeHeaders } from "../headers.ts";
import {
  type CompositeOperation,
  noteReports,
  type ResourceContext,
  readRequestBody,
  type Tools,
  type V1Request,
} from "../operation.ts";
import { checkKey, keyOf, readUpstream, V2_KEY } from "../pages.ts";
import { type AppliedPatch, isClearRefused, parseRecord, patchAt, sendPatch } from "../replace.ts";
import { responsePlan } from "../response-plan.ts";
import { isSentBack, isZero } from "../same.ts";
import { buildPatch, valueAt } from "../update.ts";

/** What a v1 body asks for: of the record, of its part, and of members that only v2 sets. */
export interface RequestedRecord {
  readonly body: V2Body;
  readonly part: V2Body;
  readonly fixed: readonly FixedField[];
}

export type RecordWithSubResource = ReturnType<typeof createRecordWithSubResource>;

/**
 * The records of one resource, for one operation: a create or an update with one join, of a sub-resource. Throws `Error`
 * for any other.
 */
export function createRecordWithSubResource(operation: CompositeOperation, parts: ResourceContext) {
  if (operation.kind === "composite") throw new Error(`${operation.name}: ${operation.by} needs a create or an update`);
  const { answer, body } = operation;
  const part = createSubResource(operation, parts);
  return {
    rows: body.rows,
    /** What responses show. */
    shape: answer,
    part,
    /** v2 path of the collection. */
    collection: collectionPath(parts.resource, parts.options.version),
    /** Reads the body and notes what it finds. Throws `Problem` INVALID_BODY. */
    readRequest(request: V1Request, tools: Tools): RequestedRecord {
      const read = readRequestBody(request.body, body.rows, parts.options.unknownRequest, tools);
      return { body: read, part: part.readRequest(request.body), fixed: readFixed(request.body, body.rows) };
    },
    /**
     * The v2 record of `response` as v1 showed it, with its part as it was read or written: after a write, no further call
     * may fail. `uid`: the record that was asked for. Throws `Problem` UPSTREAM_INVALID.
     */
    rewrite(response: ApiResponse, uid: string, stored: JsonObject, tools: Tools): Uint8Array {
      const key = keyOf(response.body);
      checkKey(key, uid, STATE_UNKNOWN);
      const content = stored[part.member];
      const values = new Map<string, Uint8Array>();
      if (content !== undefined) values.set(String(key), Buffer.from(JSON.stringify(content)));
      const joined = new Map([[part.join.v1, values]]);
      const rewrite = createValueRewriter(responsePlan(answer, parts.options, [part.join], joined));
      const { bytes, reports } = readUpstream(() => rewrite(response.body), STATE_UNKNOWN);
      noteReports(reports, tools);
      return bytes;
    },
  };
}

/** The sub-resource, and whether the record around it is synced. */
interface StoredSubResource {
  readonly record: JsonObject;
  readonly synced: boolean;
}

/** The one part of a record that lies in a sub-resource. Throws `Error` for an operation without a joined sub-resource. */
function createSubResource(operation: CompositeOperation, parts: ResourceContext) {
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
    /** The join that shows it. */
    join,
    /** v2 member of the sub-resource that holds it. */
    member,
    /** What a v1 body asks for. An empty part counts as left out: clients see it so when it could not be read. */
    readRequest(body: Uint8Array): V2Body {
      const { fields } = readBody(body, [row], "drop", createBodyNotes());
      const sent = [...fields].filter(([, { raw }]) => !isZero(JSON.parse(raw)));
      return { fields: new Map(sent), passed: [] };
    },
    /** The stored record, empty when it is missing or forbidden (which is noted), or the platform's refusal. */
    async read(
      uid: string,
      request: V1Request,
      tools: Tools,
    ): Promise<{ readonly kind: "read"; readonly record: JsonObject } | DrainRefused> {
      const response = await tools.send({ method: "GET", target: pathOf(uid), headers: readHeaders(request.headers) });
      if (isTypedRefusal(response, MISSING_OR_FORBIDDEN)) {
        tools.exchange.notes.push("join-missing");
        return { kind: "read", record: {} };
      }
      if (response.status !== 200) return { kind: "refused", response };
      const record = parseRecord(response);
      checkKey(record[V2_KEY], uid);
      return { kind: "read", record };
    },
    /**
     * Writes what differs from the stored `record`; no call at all when nothing does. What a client left out is cleared,
     * unless the record around it is `synced` or the platform refuses. A refused write becomes v1's error response.
     */
    async write(
      uid: string,
      requested: V2Body,
      { record: stored, synced }: StoredSubResource,
      request: V1Request,
      tools: Tools,
    ): Promise<{ readonly kind: "written"; readonly effect: AppliedPatch } | DrainRefused> {
      const patch = buildPatch([row], requested, stored, { synced });
      if (patch.asked.length === 0) return { kind: "written", effect: { patch, record: stored, spelling: undefined } };
      const headers = writeHeaders(request.headers, "several");
      const { response, spelling } = await sendPatch(patch, patchAt(pathOf(uid), patch, headers), tools, tools.mask);
      if (isClearRefused(patch, response)) {
        tools.exchange.notes.push("clear-refused");
        const kept = buildPatch([row], requested, stored, { synced, yields: true });
        return { kind: "written", effect: { patch: kept, record: stored, spelling: undefined } };
      }
      if (!isSuccess(response)) return { kind: "refused", response: errorResponse(response, names) };
      const record = parseRecord(response, STATE_UNKNOWN);
      checkKey(record[V2_KEY], uid, STATE_UNKNOWN);
      return { kind: "written", effect: { patch, record, spelling } };
    },
  };
}

/** A member that the client sent and v2 will not store. */
export interface FixedField {
  /** Dotted v1 path. */
  readonly v1: string;
  readonly v2Path: readonly string[];
  readonly row: Row;
  readonly value: Json;
}

/**
 * Members of `bytes` (a body that `readBody` accepted) that v2 sets itself (`never`) or no longer has, inside messages
 * that a mask names member by member. At the top of a record such members are dropped instead.
 */
export function readFixed(bytes: Uint8Array, rows: readonly Row[]): FixedField[] {
  const messages = rows.flatMap(asSettable);
  if (messages.length === 0) return [];
  const body = readBody(bytes, messages, "drop", createBodyNotes());
  return [...body.fields.values()].flatMap(({ row: outer, nested }) =>
    [...(nested?.fields.values() ?? [])].map(({ row, raw }) => ({
      v1: `${outer.v1}.${row.v1}`,
      v2Path: [outer.v2 ?? outer.v1, row.v2 ?? row.v1],
      row,
      value: parseExact(raw),
    })),
  );
}

/** The message `row` with only those members, as if v2 took them, so that they are read. */
function asSettable(row: Row): Row[] {
  if (row.kind !== "message" || row.access === "output" || row.mask !== "members") return [];
  const fixed = row.rows.filter(isFixed).map((each) => ({ ...each, mask: "always", v2: each.v2 ?? each.v1 }));
  return fixed.length === 0 ? [] : [{ ...row, rows: fixed as Row[] }];
}

function isFixed(row: Row): row is Row & WritableRow {
  return row.access !== "output" && (row.mask === "never" || row.v2 === null);
}

/**
 * Ignores values that equal the stored ones, which a client merely sends back. Throws `Problem` INVALID_BODY for others,
 * which would be lost in silence. `stored`: the v2 record; empty for a new one.
 */
export function refuseChanges(fixed: readonly FixedField[], stored: JsonObject): void {
  const changed = fixed.filter(({ v2Path, row, value }) => !isSentBack(value, valueAt(stored, v2Path), row));
  if (changed.length === 0) return;
  const names = changed.map(({ v1 }) => v1);
  throw new Problem("INVALID_BODY", `invalid body: ${names.join(", ")}: ${FIXED_FIELD}`, {
    fieldViolations: names.map((field) => ({ field, description: FIXED_FIELD })),
    options: [],
  });
}

const FIXED_FIELD = "is set by the platform in v2; leave it out, or send back the value that is stored";
