/** What is each recorded call for, and which further ones may there be? */

import type { Exchange } from "../model/exchange.ts";
import { type Json, member } from "../model/json.ts";
import type { ApiRequest } from "../model/message.ts";
import type { Join, Operation } from "../model/resource.ts";
import { BATCH_RECORDS, MAX_READS } from "../translate/others.ts";
import type { ExplainedCall } from "./explanation.ts";
import type { RecordedCall, Recording } from "./record.ts";
import type { AskedRequest } from "./request.ts";
import { shownRequest } from "./shown.ts";
import type { Differing } from "./stored-record.ts";

export interface CallParts {
  readonly operation: Operation | undefined;
  readonly recording: Recording;
  /** The same request against a platform that is known to want snake_case; undefined when the spelling is fixed. */
  readonly respelled: Recording | undefined;
  /** What the stored record is read for, and assumed to be. */
  readonly differing: Differing;
  /** The same request for a record that is synced, where `differing` is not, or the other way round; undefined where none is ever synced. */
  readonly otherwise: Recording | undefined;
  readonly pageSize: number;
  /** Whether the client's own request speaks of this uid. */
  asked(uid: string): boolean;
}

/** The calls of an operation in their order. */
export function explainCalls(parts: CallParts): ExplainedCall[] {
  return parts.recording.calls.map((call, index): ExplainedCall => {
    const { request } = call;
    return {
      upstream: "v2",
      ...shownRequest({ ...request, target: withPlaceholder(call, index, parts) }),
      mask: maskOf(request),
      ...purposeOf(call, index, parts),
      assuming: call.assuming,
    };
  });
}

/** The one call of a request that passes through. */
export function passedCall(request: AskedRequest, pass: NonNullable<Recording["pass"]>): ExplainedCall {
  return {
    upstream: pass.upstream,
    ...shownRequest({ ...request, target: pass.target }),
    mask: null,
    purpose: pass.target === request.target ? "the client's own bytes" : "the client's own bytes, but for aud",
    assuming: "",
    also: [],
  };
}

/** Behind the path, or (of a verb) in the body. */
function maskOf({ target, body }: ApiRequest): readonly string[] | null {
  const given = new URLSearchParams(target.split("?")[1] ?? "").get("updateMask") ?? maskIn(body);
  return given?.split(",") ?? null;
}

function maskIn(body: Uint8Array | undefined): string | null {
  if (body === undefined || body.length === 0) return null;
  const mask = member(JSON.parse(Buffer.from(body).toString("utf8")) as Json, "updateMask");
  return typeof mask === "string" ? mask : null;
}

/** A uid that only an assumed answer held is nobody's: a word stands for it. */
function withPlaceholder({ request, place }: RecordedCall, index: number, { operation, asked }: CallParts): string {
  const join = joinOf({ request, place }, index, operation);
  const word = (join?.by ?? "uid").replaceAll(".", "_").toUpperCase();
  if (place.params.has("uidp.ids") && join !== undefined) {
    const [first, ...more] = place.params.getAll("uidp.ids");
    const others = more.map((uid) => `&uidp.ids=${encodeURIComponent(uid)}`).join("");
    return request.target.replace(`uidp.ids=${encodeURIComponent(first ?? "")}${others}`, `uidp.ids=${word}`);
  }
  const { uid } = place;
  return uid === "" || asked(uid) ? request.target : request.target.replace(uid, word);
}

type Purpose = Pick<ExplainedCall, "purpose" | "also">;

function purposeOf(call: RecordedCall, index: number, parts: CallParts): Purpose {
  const { operation, recording } = parts;
  const join = joinOf(call, index, operation);
  if (join !== undefined) return joinPurpose(join, operation);
  switch (call.request.method) {
    case "GET":
      return readPurpose(call, index, parts);
    case "PATCH":
      return {
        purpose:
          call.place.sub === ""
            ? "changes the fields that updateMask lists, and nothing else"
            : `writes the ${call.place.sub}`,
        also: respelling(call, index, parts),
      };
    case "POST":
      if (call.place.kind === "other") return { purpose: "does what the verb says", also: [] };
      return {
        purpose: operation?.kind === "update" ? "writes the record by creating it again" : "creates the record",
        also: [],
      };
    case "DELETE":
      return { purpose: "deletes the record", also: [] };
    case "OPTIONS":
      return { purpose: "asks what v2 allows here; PATCH is shown as PUT", also: [] };
    default:
      return { purpose: `${recording.exchange.operation} of the ${recording.exchange.resource}`, also: [] };
  }
}

function readPurpose({ place, request }: RecordedCall, index: number, parts: CallParts): Purpose {
  const { operation, recording, differing } = parts;
  const compared = differing.fields;
  const { exchange } = recording;
  if (operation?.kind === "list" && index === 0) return listPurpose(place, request, exchange, parts.pageSize);
  if (operation?.kind === "create" && place.kind === "list") {
    return { purpose: "looks for a record that is there already", also: [pagesOf(parts.pageSize)] };
  }
  const writes = recording.calls.slice(index + 1).some((later) => later.request.method !== "GET");
  if (writes && compared.length > 0) {
    const names = compared.join(", ");
    const one = compared.length === 1;
    return {
      purpose: `reads the stored record: ${names} ${one ? "goes" : "go"} into updateMask only if the record says otherwise`,
      also:
        differing.synced === undefined
          ? [`without ${one ? names : `any of ${names}`} in the body, this read is not made`]
          : writesOtherwise(parts),
    };
  }
  if (writes) return { purpose: "reads the stored record first", also: writesOtherwise(parts) };
  if (exchange.notes.includes("update-empty")) {
    return { purpose: "reads the record: nothing is to be written, so it is shown as it is", also: [] };
  }
  if (place.kind === "other") return { purpose: "asks v2's counterpart", also: [] };
  if (place.kind === "record") return { purpose: "reads the record", also: [] };
  return { purpose: "reads the list", also: exchange.list === undefined ? [] : [pagesOf(parts.pageSize)] };
}

/** What is written instead to a record that is synced, or is not. */
function writesOtherwise({ differing, otherwise }: CallParts): readonly string[] {
  if (differing.synced === undefined || otherwise === undefined) return [];
  const writes = otherwise.calls.filter(({ request }) => request.method !== "GET");
  const made = writes.map(({ request: { method, target } }) => `${method} ${target}`).join(" and ");
  return [
    `of a record that is ${differing.synced ? "not synced" : "synced"}: ${made === "" ? "nothing is written" : made}`,
  ];
}

function listPurpose(place: RecordedCall["place"], request: ApiRequest, { list }: Exchange, pageSize: number): Purpose {
  if (place.kind === "record") {
    return {
      purpose: "reads the one record: an id filter becomes a Get",
      also: ["404 or 403 from the platform itself: the answer is an empty list with 200, as v1 did"],
    };
  }
  if (list !== undefined) {
    return {
      purpose: "reads the list",
      also: [pagesOf(pageSize)],
    };
  }
  if (request.target.endsWith("?page_size=1")) {
    return { purpose: "nothing can match; asks only whether the caller may ask", also: [] };
  }
  return { purpose: "reads one page: v1 itself paged this list, and so does v2", also: [] };
}

function pagesOf(pageSize: number): string {
  return `again for every further page of ${pageSize} records: by skip, several at a time, where records are counted and come by uid; else by page_token, one after another`;
}

/** The join for whose sake a call is made; the first call of an operation never is. */
function joinOf(
  { place, request }: Pick<RecordedCall, "place" | "request">,
  index: number,
  operation: Operation | undefined,
): Join | undefined {
  if (index === 0 || request.method !== "GET" || operation === undefined || !("joins" in operation)) return undefined;
  return (operation.joins ?? []).find(({ resource, read, sub }) => {
    if (resource !== place.resource?.name) return false;
    if (sub !== undefined) return place.sub === sub;
    return read === "get" ? place.kind === "record" : place.params.has("uidp.ids");
  });
}

function joinPurpose(join: Join, operation: Operation | undefined): Purpose {
  const each =
    join.read === "get" || join.sub !== undefined
      ? `one such call for each distinct ${join.by}`
      : `one such call for every ${BATCH_RECORDS} distinct values of ${join.by}`;
  const purpose =
    join.sub === undefined
      ? `reads the ${join.resource} that a record names at ${join.by}, for v1's ${join.v1}`
      : `reads the ${join.sub} of the ${join.resource}, for v1's ${join.v1}`;
  const isList = operation?.kind === "list";
  return { purpose, also: isList ? [`${each}; at most ${MAX_READS} reads beside the list`] : [] };
}

/** While nobody knows how the platform spells masks, a refused one is sent again in the other spelling. */
function respelling(call: RecordedCall, index: number, { respelled }: CallParts): readonly string[] {
  const other = respelled?.calls[index]?.request;
  if (other === undefined || other.target === call.request.target) return [];
  const mask = maskOf(other)?.join(",") ?? "";
  return [`refused with 400 (code 3): sent once more with updateMask=${mask}, and the spelling remembered`];
}
