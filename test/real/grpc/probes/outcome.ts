/** What came of a probe, as one is compared with another and shown in the docs. */
import { gunzipSync } from "node:zlib";
import type { JsonValue } from "@bufbuild/protobuf";
import { type ApiRequest, header } from "../../../../sandbox/src/http.ts";
import { RpcCode } from "../../../../src/model/problem.ts";
import type { Field } from "./request.ts";

/** A response as the program `probe` saw it. */
export interface Came {
  /** 0: no head. */
  readonly http: number;
  readonly fields: readonly Field[];
  readonly trailers: readonly Field[];
  readonly data: string;
  readonly ended: boolean;
  /** -1: no reset. */
  readonly reset: number;
  readonly closed: boolean;
  readonly waiting: boolean;
}

/** How a server ended a call, and what of it the platform and the client got. */
export interface Outcome {
  /** The name of the status, or what came without one. */
  readonly status: string;
  readonly messages: number;
  /** The platform was asked. */
  readonly ran: boolean;
  /** Metadata of probes, as the platform got it; of binary values their bytes. */
  readonly metadata: readonly string[];
  /** The message, without what differs between two records alike. */
  readonly response: JsonValue | undefined;
}

const STATUS_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(RpcCode).map(([name, code]) => [code, name]));
const RESETS: ReadonlyMap<number, string> = new Map([
  [0, "NO_ERROR"],
  [1, "PROTOCOL_ERROR"],
  [2, "INTERNAL_ERROR"],
  [8, "CANCEL"],
  [11, "ENHANCE_YOUR_CALM"],
]);

export function outcomeOf(
  came: Came,
  arrived: readonly ApiRequest[],
  read: (message: Uint8Array) => JsonValue | undefined,
): Outcome {
  const all = messagesIn(Buffer.from(came.data, "hex"));
  return {
    status: statusOf(came),
    messages: all.length,
    ran: arrived.length > 0,
    metadata: arrived[0] === undefined ? [] : metadataOf(arrived[0]),
    response: all[0] === undefined ? undefined : withoutIds(read(all[0]) ?? null),
  };
}

/**
 * A line of the docs. The status is followed by `*` where the platform was asked. Metadata and message are shown as far as they differ from
 * those of `native`. `either`: statuses that take turns, and count as one.
 */
export function describeOutcome(outcome: Outcome, native: Outcome, either: readonly string[] = []): string {
  const { status, ran, messages, metadata, response } = outcome;
  const differs = (one: unknown, other: unknown): boolean => JSON.stringify(one) !== JSON.stringify(other);
  const words = [(either.includes(status) ? either.join(" or ") : status) + (ran ? "*" : "")];
  if (messages !== 1 && status === "OK") words.push(`${messages} messages`);
  if (status === native.status && ran === native.ran) {
    if (differs(metadata, native.metadata)) words.push("other metadata");
    if (differs(response, native.response)) words.push("another message");
  }
  return words.join(", ");
}

function statusOf({ http, fields, trailers, reset, closed, ended }: Came): string {
  const said = [...trailers, ...fields].find(([name]) => name === "grpc-status")?.[1];
  const rpc = said === undefined ? undefined : (STATUS_NAMES.get(Number(said)) ?? said);
  const of = http !== 200 ? `HTTP ${http}` : (rpc ?? "no status");
  if (ended) return of;
  if (reset >= 0) return `reset ${RESETS.get(reset) ?? reset}`;
  return closed ? "connection closed" : "no response";
}

function messagesIn(bytes: Buffer): Buffer[] {
  const all: Buffer[] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    const message = bytes.subarray(at + 5, end);
    all.push(bytes[at] === 1 ? gunzipSync(message) : message);
    at = end;
  }
  return all;
}

/** The field in which the server in Go lists metadata, and the names by which a gateway reads them. */
const LISTED = "x-probed";
const PROBE = /^grpc-metadata-(.*x-probe.*)$/;
const SHOWN_BYTES = 32;

function metadataOf({ headers }: ApiRequest): readonly string[] {
  const listed = header(headers, LISTED);
  if (listed !== undefined) return listed === "" ? [] : listed.split(", ").toSorted();
  const all = headers.flatMap(([field, value]) => {
    const name = PROBE.exec(field)?.[1];
    if (name === undefined) return [];
    const bytes = name.endsWith("-bin") ? Buffer.from(value, "base64") : Buffer.from(value, "latin1");
    return [`${name}=${bytes.subarray(0, SHOWN_BYTES).toString("hex")}`];
  });
  return all.toSorted();
}

/** Uids are random. */
function withoutIds(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutIds);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(
    ([name]) => name !== "id" && name !== "createdAt" && name !== "updatedAt",
  );
  return Object.fromEntries(members.map(([name, one]): [string, JsonValue] => [name, withoutIds(one)]).toSorted());
}
