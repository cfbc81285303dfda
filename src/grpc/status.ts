/** How a gRPC call ends: codes, messages and details, and the same of an error's JSON body. */
import {
  createRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type Registry,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { isJsonObject, member } from "../model/json.ts";
import { type Problem, problemBody, rpcOfHttp } from "../model/problem.ts";
import { createErrorRegistry } from "./error-details.ts";

/** The end of a call, as its trailers say it. */
export interface RpcStatus {
  readonly code: number;
  readonly message: string;
  /** `google.rpc.Status` in binary: only where there are details. */
  readonly details?: Uint8Array | undefined;
}

/** Turns errors in JSON into statuses and back, details included. */
export interface StatusCodec {
  /** Of a response that is no success: its JSON body, or what its HTTP status says. */
  ofJson(http: number, body: Uint8Array): RpcStatus;
  /** Of an error of our own. */
  ofProblem(problem: Problem): RpcStatus;
  /** The JSON body that v1's gateway would have made of a status. */
  toJson(status: RpcStatus): string;
}

const ERRORS = createErrorRegistry();
const STATUS = messageOf(ERRORS, "google.rpc.Status");

function messageOf(registry: Registry, name: string): DescMessage {
  const found = registry.getMessage(name);
  if (found === undefined) throw new Error(`${name} is not described`);
  return found;
}

/** `known`: the operator's descriptors, for types of details that are not Google's own. */
export function createStatusCodec(known: Registry | undefined): StatusCodec {
  const registry = known === undefined ? ERRORS : createRegistry(ERRORS, known);
  const ofJson = (http: number, body: Uint8Array): RpcStatus => {
    const read = parsed(body);
    const code = read === undefined ? undefined : member(read, "code");
    const message = read === undefined ? undefined : member(read, "message");
    const said = typeof code === "number" && Number.isInteger(code) && code > 0 && code <= 16;
    const status = {
      code: said ? code : rpcOfHttp(http),
      message: typeof message === "string" ? message : `HTTP ${http}`,
    };
    const details = anysOf(read === undefined ? undefined : member(read, "details"), registry);
    if (details.length === 0) return status;
    const json = { ...status, details: details.map((detail) => toJson(AnySchema, detail, { registry })) };
    return { ...status, details: toBinary(STATUS, fromJson(STATUS, json, { registry })) };
  };
  return {
    ofJson,
    ofProblem: (problem) => ofJson(problem.http, Buffer.from(problemBody(problem))),
    toJson: ({ code, message, details }) => {
      const read = details === undefined ? [] : detailsOf(details, registry);
      return JSON.stringify({ code, message, details: read });
    },
  };
}

/** Longer bodies of errors say nothing that trailers have room for. */
export const MOST_ERROR_BYTES = 64 * 1024;
/** node:http2 sends no more than 64 KiB of trailers, and resets the call instead. A character may take nine bytes there. */
const MOST_MESSAGE_LENGTH = 2 * 1024;
const MOST_DETAILS_BYTES = 32 * 1024;

function parsed(body: Uint8Array) {
  if (body.length > MOST_ERROR_BYTES) return undefined;
  try {
    const read: unknown = JSON.parse(Buffer.from(body).toString());
    return isJsonObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

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

/** The trailers that end a call. A message that is too long is cut, and details that are too long are left out. */
export function statusTrailers({ code, message, details }: RpcStatus): Record<string, string> {
  return {
    "grpc-status": String(code),
    ...(message === "" ? {} : { "grpc-message": encodeMessage(message) }),
    // Without padding, as the protocol asks for.
    ...(details === undefined || details.length > MOST_DETAILS_BYTES
      ? {}
      : { "grpc-status-details-bin": Buffer.from(details).toString("base64").replace(/=+$/, "") }),
  };
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

/** Percent-encoding of everything but visible ASCII and spaces. */
function encodeMessage(message: string): string {
  let text = "";
  for (const byte of Buffer.from(message.slice(0, MOST_MESSAGE_LENGTH))) {
    const plain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    text += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return text;
}

/** What is no valid escape stays as it is. */
function decodeMessage(text: string): string {
  if (!text.includes("%")) return text;
  const latin1 = text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(latin1, "latin1").toString();
}
