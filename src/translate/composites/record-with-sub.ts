/** What is a record whose part lies in a sub-resource: what does a client ask of it, and how is it shown? (Trap T10.) */
import { createValueRewriter } from "../../json/rewrite.ts";
import type { JsonObject } from "../../model/json.ts";
import { collectionPath } from "../../model/match.ts";
import type { ApiResponse } from "../../model/message.ts";
import type { Row } from "../../model/resource.ts";
import { answerPlan } from "../answer-plan.ts";
import type { V2Body } from "../body.ts";
import { noteReports, readNoted } from "../note.ts";
import { checkKey, keyOf, readUpstream } from "../pages.ts";
import type { Parts } from "../parts.ts";
import { STATE_UNKNOWN } from "../records.ts";
import { answerOptions } from "../show.ts";
import type { Tools, V1Request } from "../tools.ts";
import type { CompositeOperation } from "./composite.ts";
import { type FixedField, readFixed } from "./fixed.ts";
import { createPart, type Part } from "./sub-resource.ts";

/** What a v1 body asks of the record, of its part, and of what v2 alone sets. */
export interface Wish {
  readonly body: V2Body;
  readonly part: V2Body;
  readonly fixed: readonly FixedField[];
}

/** The records of one resource, for one operation. */
export interface Whole {
  readonly rows: readonly Row[];
  readonly part: Part;
  /** v2 path of the collection. */
  readonly collection: string;
  /** Reads the body and notes what it finds. Throws `Problem` INVALID_BODY. */
  wish(request: V1Request, tools: Tools): Wish;
  /**
   * The v2 record of `response` as v1 showed it, with its part as it was read or written: no further call can fail
   * behind a write. `uid`: the record that was asked for. Throws `Problem` UPSTREAM_INVALID.
   */
  show(response: ApiResponse, uid: string | undefined, held: JsonObject, tools: Tools): Uint8Array;
}

/** `operation`: a create or an update with one join, of a sub-resource. Throws `Error` for any other. */
export function createWhole(operation: CompositeOperation, parts: Parts): Whole {
  if (operation.kind === "composite") throw new Error(`${operation.name}: ${operation.by} needs a create or an update`);
  const { answer, body } = operation;
  const part = createPart(operation, parts);
  return {
    rows: body.rows,
    part,
    collection: collectionPath(parts.resource, parts.options.version),
    wish(request, tools) {
      const read = readNoted(request.body, body.rows, parts.options.unknownRequest, tools);
      return { body: read, part: part.wish(request.body), fixed: readFixed(request.body, body.rows) };
    },
    show(response, uid, held, tools) {
      const key = keyOf(response.body);
      checkKey(key, uid, STATE_UNKNOWN);
      const content = held[part.member];
      const known = content === undefined ? [] : [[String(key), Buffer.from(JSON.stringify(content))] as const];
      const joined = new Map([[part.join.v1, new Map(known)]]);
      const rewrite = createValueRewriter(answerPlan(answer, answerOptions(parts.options), [part.join], joined));
      const { bytes, reports } = readUpstream(() => rewrite(response.body), STATE_UNKNOWN);
      noteReports(reports, tools);
      return bytes;
    },
  };
}
