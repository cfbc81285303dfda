/** How a gRPC call ends: codes, messages and details, and the same of an error's JSON body. */

import type { OutgoingHttpHeaders } from "node:http2";
import {
  create,
  createRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  type Registry,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { member, parsedJson } from "../model/json.ts";
import { type Problem, problemBody, RpcCode, rpcOfHttp } from "../model/problem.ts";
import { counted } from "../rules/words.ts";
import { createErrorRegistry } from "./error-details.ts";

/** The end of a call, as its trailers say it. */
export interface RpcStatus {
  readonly code: number;
  readonly message: string;
  /** `google.rpc.Status` in binary: only where there are details. */
  readonly details?: Uint8Array | undefined;
}

const ERRORS = createErrorRegistry();
const STATUS = messageOf(ERRORS, "google.rpc.Status");

function messageOf(registry: Registry, name: string): DescMessage {
  const found = registry.getMessage(name);
  if (found === undefined) throw new Error(`${name} is not described`);
  return found;
}

/** Turns errors in JSON into statuses and back, details included. */
export type StatusCodec = ReturnType<typeof createStatusCodec>;

/** `known`: the operator's descriptors, for types of details that are not Google's own. */
export function createStatusCodec(known: Registry | undefined) {
  const registry = known === undefined ? ERRORS : createRegistry(ERRORS, known);
  const ofJson = (http: number, body: Uint8Array): RpcStatus => {
    const read = body.length > MOST_ERROR_BYTES ? undefined : parsedJson(Buffer.from(body).toString());
    const code = member(read, "code");
    const message = member(read, "message");
    const said = typeof code === "number" && Number.isInteger(code) && code > 0 && code <= 16;
    const status = {
      code: said ? code : rpcOfHttp(http),
      message: typeof message === "string" ? message : `HTTP ${http}`,
    };
    const details = anysOf(member(read, "details"), registry);
    if (details.length === 0) return status;
    const json = { ...status, details: details.map((detail) => toJson(AnySchema, detail, { registry })) };
    return { ...status, details: toBinary(STATUS, fromJson(STATUS, json, { registry })) };
  };
  return {
    /** From an error response: its JSON body, or else its HTTP status. */
    ofJson,
    /** Of an error of our own. */
    ofProblem: (problem: Problem): RpcStatus => {
      const status = ofJson(problem.http, Buffer.from(problemBody(problem)));
      // Clients repeat what is UNAVAILABLE, and this may have been done.
      const isUnsafe = status.code === RpcCode.UNAVAILABLE && problem.metadata["state"] === "unknown";
      return isUnsafe ? { ...status, code: RpcCode.UNKNOWN } : status;
    },
    /** The JSON body that v1's gateway would have made of a status. */
    toJson: ({ code, message, details }: RpcStatus): string => {
      const read = details === undefined ? [] : detailsOf(details, registry);
      return JSON.stringify({ code, message, details: read });
    },
  };
}

/** Longer bodies of errors say nothing that trailers have room for. */
export const MOST_ERROR_BYTES = 64 * 1024;
const MOST_MESSAGE_LENGTH = 2 * 1024;

/** Details of types that nobody describes cannot be encoded, and are left out. */
function anysOf(details: unknown, registry: Registry): readonly Any[] {
  if (!Array.isArray(details)) return [];
  return details.flatMap((detail: unknown) => {
    try {
      return [fromJson(AnySchema, detail as JsonValue, { registry, ignoreUnknownFields: true })];
    } catch {
      return [];
    }
  });
}

function detailsOf(bytes: Uint8Array, registry: Registry): readonly JsonValue[] {
  try {
    const { details } = fromBinary(STATUS, bytes) as unknown as { readonly details: readonly Any[] };
    return details.flatMap((detail) => {
      try {
        return [toJson(AnySchema, detail, { registry, alwaysEmitImplicit: true })];
      } catch {
        return [{ "@type": detail.typeUrl }];
      }
    });
  } catch {
    return [];
  }
}

/**
 * The trailers that end a call. They take at most `room` bytes, as `sizeOfFields` counts them: a longer message is cut, and details are cut
 * by whole entries, which the message then says.
 */
export function statusTrailers({ code, message, details }: RpcStatus, room = MOST_FIELD_BYTES): Record<string, string> {
  const most = Math.floor(room / 2);
  const trailers: Record<string, string> = { "grpc-status": String(code) };
  if (message !== "") trailers["grpc-message"] = encodeMessage(message, most);
  if (details === undefined) return trailers;
  // Four characters of base64 hold three bytes.
  const left = Math.floor(((room - sizeOfFields(trailers) - OWN_BYTES) * 3) / 4);
  const fitting = details.length <= left ? { bytes: details, dropped: 0 } : shrunk(details, left);
  if (fitting.dropped > 0) trailers["grpc-message"] = encodeMessage(message, most) + without(fitting.dropped);
  // Without padding, as the protocol asks for.
  if (fitting.bytes.length > 0) trailers[DETAILS] = Buffer.from(fitting.bytes).toString("base64").replace(/=+$/, "");
  return trailers;
}

/** The end of a message whose details were cut. */
function without(dropped: number): string {
  const entries = counted(dropped, "entry", "entries");
  return ` (without ${entries} of its details, which are too long for metadata)`;
}

/** A limit of many clients and proxies for one head, and for trailers. */
export const MOST_FIELD_BYTES = 16 * 1024;
/** The name of the field for details, what HTTP/2 counts for it, and the words, in both fields, that say that some are left out. */
const OWN_BYTES = 256;
const FIELD_BYTES = 32;
export const DETAILS = "grpc-status-details-bin";

/** Bytes of fields as SETTINGS_MAX_HEADER_LIST_SIZE counts them. */
export function sizeOfFields(fields: OutgoingHttpHeaders): number {
  let bytes = 0;
  for (const name in fields) {
    for (const value of [fields[name] ?? []].flat()) bytes += name.length + String(value).length + FIELD_BYTES;
  }
  return bytes;
}

/** The details in a `google.rpc.Status` that fit into `room` bytes. Of one that does not fit, the first entries of its list are kept. */
function shrunk(details: Uint8Array, room: number): { readonly bytes: Uint8Array; readonly dropped: number } {
  const none = { bytes: NO_BYTES, dropped: 1 };
  try {
    const status = fromBinary(STATUS, details) as Message & { message: string; details: Any[] };
    const all = status.details;
    status.details = [];
    let left = room - toBinary(STATUS, status).length;
    if (left < 0) return { ...none, dropped: all.length };
    let dropped = 0;
    for (const detail of all) {
      const kept = part(detail, left);
      dropped += kept.dropped;
      if (kept.any === undefined) continue;
      status.details.push(kept.any);
      left -= sizeOfAny(kept.any);
    }
    // Clients in Go show this message instead of the one in its own field.
    if (dropped > 0) status.message += without(dropped);
    return { bytes: status.details.length === 0 ? NO_BYTES : toBinary(STATUS, status), dropped };
  } catch {
    return none;
  }
}

const NO_BYTES = new Uint8Array();

/** As an element of a list. */
function sizeOfAny(any: Any): number {
  return toBinary(AnySchema, any).length + PREFIX_BYTES;
}

/** For the tag and the length of an element. */
const PREFIX_BYTES = 6;

/** `detail`, or a copy with fewer entries in its list. Types that are not described are kept or dropped whole. */
function part(detail: Any, room: number): { readonly any: Any | undefined; readonly dropped: number } {
  if (sizeOfAny(detail) <= room) return { any: detail, dropped: 0 };
  const type = ERRORS.getMessage(detail.typeUrl.slice(detail.typeUrl.lastIndexOf("/") + 1));
  const list = type?.fields.find(({ fieldKind }) => fieldKind === "list");
  if (type === undefined || list === undefined) return { any: undefined, dropped: 1 };
  const message = fromBinary(type, detail.value) as Message & Record<string, unknown>;
  const entries = message[list.localName] as readonly unknown[];
  const fits = (count: number): Any | undefined => {
    message[list.localName] = entries.slice(0, count);
    const any = create(AnySchema, { typeUrl: detail.typeUrl, value: toBinary(type, message) });
    return sizeOfAny(any) <= room ? any : undefined;
  };
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle) === undefined) high = middle - 1;
    else low = middle;
  }
  return low === 0 ? { any: undefined, dropped: 1 } : { any: fits(low), dropped: entries.length - low };
}

/** A status as trailers say it; undefined where there is none. */
export function statusOfTrailers(get: (name: string) => string | undefined): RpcStatus | undefined {
  const code = get("grpc-status");
  if (code === undefined || !/^\d{1,5}$/.test(code)) return undefined;
  const details = get("grpc-status-details-bin");
  return {
    code: Number(code),
    message: decodeMessage(get("grpc-message") ?? ""),
    details: details === undefined ? undefined : Buffer.from(details, "base64"),
  };
}

/** Percent-encoding of everything but visible ASCII, and spaces within: HTTP/2 takes away those at the ends of a field. Cut after `most` bytes. */
function encodeMessage(message: string, most: number): string {
  let text = "";
  for (const character of message.slice(0, MOST_MESSAGE_LENGTH)) {
    const encoded = PLAIN.test(character) ? character : escaped(character);
    if (text.length + encoded.length > most) break;
    text += encoded;
  }
  return withEndSpaces(text);
}

/** Without the spaces themselves at the ends of an encoded message. */
export function withEndSpaces(text: string): string {
  const begin = text.trimStart();
  const inner = begin.trimEnd();
  return "%20".repeat(text.length - begin.length) + inner + "%20".repeat(begin.length - inner.length);
}

const PLAIN = /^[ -$&-~]$/;

function escaped(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

/** What is no valid escape stays as it is. */
function decodeMessage(text: string): string {
  if (!text.includes("%")) return text;
  const latin1 = text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(latin1, "latin1").toString();
}
