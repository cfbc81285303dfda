/** Messages as the HTTP requests and responses that they stand for (`google.api.http`, and the JSON mapping of proto3). */
import {
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { isJsonObject } from "../model/json.ts";
import { Problem } from "../model/problem.ts";
import type { HttpBinding, PathVariable, Rpc } from "./descriptors.ts";
import { type MessagePart, partsOfList } from "./list-stream.ts";
import { bytesOfLong, jsonOfLong } from "./long-messages.ts";
import { unreadable } from "./messages.ts";

const NO_BODY = new Uint8Array();
const EMPTY = Buffer.from("{}");

/** The HTTP request of a message. */
export interface TranscodedRequest {
  readonly method: string;
  readonly target: string;
  readonly body: Uint8Array;
}

/** Throws Problem for a message that cannot be read. Unknown fields are left out. */
export function decodeRequest({ method }: Rpc, bytes: Uint8Array): Message {
  return readable(method.input, () => fromBinary(method.input, bytes, { readUnknownFields: false }));
}

/** A request in JSON. Throws Problem for a message that has none. */
export function jsonOfRequest({ method }: Rpc, message: Message, registry: Registry): JsonObject {
  return readable(method.input, () => toJson(method.input, message, { registry })) as JsonObject;
}

/** The HTTP request for a message in JSON, which it takes apart. Throws Problem where there is none. */
export function requestOf({ method, bindings }: Rpc, json: JsonObject): TranscodedRequest {
  const binding =
    bindings.find(({ path }) =>
      path.every((part) => typeof part === "string" || valueAt(json, jsonPath(method.input, part.field)) !== undefined),
    ) ?? bindings[0];
  if (binding === undefined) throw new Error(`${method.name} has no HTTP request`);
  // What path and body take is no longer there for the query.
  const path = binding.path.map((part) => (typeof part === "string" ? part : takeVariable(json, part, method.input)));
  const body = takeBody(json, binding, method.input);
  const query = binding.body === "*" ? "" : queryOf(json);
  return {
    method: binding.method,
    target: `${path.join("")}${query === "" ? "" : `?${query}`}`,
    body: body === undefined ? NO_BODY : Buffer.from(JSON.stringify(body)),
  };
}

/** The message of an rpc's request in JSON. Throws Problem for JSON that is none. */
export function bytesOfJson({ method }: Rpc, json: string, registry: Registry): Uint8Array {
  try {
    return toBinary(method.input, fromJson(method.input, JSON.parse(json) as JsonValue, { registry }));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Problem("INVALID_BODY", `the request is no ${method.input.name} message: ${why}`, { options: [] });
  }
}

/** Runs `read`. Throws Problem INVALID_BODY where that throws anything else. */
export function readable<T>(type: DescMessage, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw unreadable(`the request is no ${type.name} message`, cause);
  }
}

/** Names of fields in JSON, of a path in the descriptors' spelling. */
function jsonPath(type: DescMessage, path: readonly string[]): readonly string[] {
  let at: DescMessage | undefined = type;
  return path.map((name) => {
    const field: DescField | undefined = at?.fields.find((one) => one.name === name);
    at = field?.message;
    return field?.jsonName ?? name;
  });
}

function valueAt(json: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (value, name) => (isJsonObject(value) ? (value[name] as JsonValue) : undefined),
    json,
  );
}

/** The text of a variable in the path; its field is then not a part of body or query. */
function takeVariable(json: JsonObject, { field, spans }: PathVariable, type: DescMessage): string {
  const path = jsonPath(type, field);
  const value = valueAt(json, path);
  const owner = valueAt(json, path.slice(0, -1));
  if (isJsonObject(owner)) delete owner[path.at(-1) ?? ""];
  const text = value === undefined || value === null ? "" : String(value);
  return spans ? text.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(text);
}

function takeBody(json: JsonObject, { body }: HttpBinding, type: DescMessage): JsonValue | undefined {
  if (body === "") return undefined;
  if (body === "*") return json;
  const [name = body] = jsonPath(type, [body]);
  const value = json[name];
  delete json[name];
  return value ?? {};
}

/** Fields as grpc-gateway reads them: dots between the names of nested ones, one parameter for each element of a list. */
function queryOf(json: JsonObject, prefix = ""): string {
  return Object.entries(json)
    .flatMap(([name, value]): string[] => {
      const path = `${prefix}${name}`;
      if (Array.isArray(value)) return value.map((one) => parameter(path, one));
      if (isJsonObject(value)) return [queryOf(value as JsonObject, `${path}.`)];
      return [parameter(path, value)];
    })
    .filter((part) => part !== "")
    .join("&");
}

function parameter(path: string, value: JsonValue): string {
  if (typeof value === "object" && value !== null) {
    throw new Problem("INVALID_FILTER", `${path}: a list of messages cannot be translated`, { options: [] });
  }
  return `${encodeURIComponent(path)}=${encodeURIComponent(String(value))}`;
}

/** The message of a successful response's body. Throws Problem for JSON that is no such message. */
export async function responseOf(
  { method, bindings }: Rpc,
  body: Uint8Array,
  registry: Registry,
  turn: () => Promise<void>,
  prepare?: (json: JsonValue) => void,
): Promise<Uint8Array> {
  const { output } = method;
  const name = bindings[0]?.responseBody ?? "";
  try {
    const whole = name === "" ? body : wrapped(jsonPath(output, [name]), body);
    return await bytesOfLong(output, whole.length === 0 ? EMPTY : whole, registry, turn, prepare);
  } catch (cause) {
    throw invalidResponse(output, cause);
  }
}

/** The message of a successful response whose body comes in pieces. Throws Problem for JSON that is no such message, and what `pieces` throw. */
export async function* partsOfResponse(
  { method, bindings }: Rpc,
  pieces: AsyncIterable<Uint8Array>,
  registry: Registry,
  turn: () => Promise<void>,
  prepare?: (json: JsonValue) => void,
): AsyncGenerator<MessagePart, void> {
  const { output } = method;
  const name = bindings[0]?.responseBody ?? "";
  try {
    const all = name === "" ? pieces : wrappedPieces(jsonPath(output, [name]), pieces);
    yield* partsOfList(output, all, registry, turn, prepare);
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw invalidResponse(output, cause);
  }
}

async function* wrappedPieces(
  [member = ""]: readonly string[],
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(`{${JSON.stringify(member)}:`);
  yield* pieces;
  yield Buffer.from("}");
}

function invalidResponse({ name }: DescMessage, cause: unknown): Problem {
  return new Problem("UPSTREAM_INVALID", `the response is no ${name} message`, { cause, options: [] });
}

function wrapped([member = ""]: readonly string[], body: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`{${JSON.stringify(member)}:`), body, Buffer.from("}")]);
}

/** The JSON body that a response's message stands for: v1's gateway shows zero values. */
export async function responseJson(
  { method, bindings }: Rpc,
  message: Uint8Array,
  registry: Registry,
  turn: () => Promise<void>,
): Promise<string> {
  const members = await jsonOfLong(method.output, message, registry, turn);
  const name = bindings[0]?.responseBody ?? "";
  const [member = name] = jsonPath(method.output, [name]);
  if (name !== "") return members.get(member) ?? "";
  return `{${[...members].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}
