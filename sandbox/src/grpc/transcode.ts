/** A gRPC call as the HTTP request that its rule says, and the HTTP response as a message or a status. */
import { type DescMethod, type FileRegistry, fromJson, getOption, toBinary, toJson } from "@bufbuild/protobuf";
import type { ApiRequest, ApiResponse, HeaderList } from "../http.ts";
import type { Json, JsonObject } from "../json.ts";
import { RpcCode } from "../refusal.ts";
import type { Status } from "./frames.ts";

/** The HTTP rule of one rpc. */
export interface HttpRule {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** The rule of `method`, or undefined when it has none. */
export function httpRule(method: DescMethod, registry: FileRegistry): HttpRule | undefined {
  const extension = registry.getExtension("google.api.http");
  if (extension?.fieldKind !== "message") return undefined;
  const rule = toJson(extension.message, getOption(method, extension) as never) as JsonObject;
  const [found] = Object.entries(rule).filter(([key]) => ["get", "put", "post", "patch", "delete"].includes(key));
  return found && { method: found[0].toUpperCase(), path: String(found[1]), body: String(rule["body"] ?? "") };
}

/** The request that `message`, in JSON with field names as in .proto files, means by `rule`. */
export function toHttp(rule: HttpRule, message: JsonObject, headers: HeaderList): ApiRequest {
  const rest = structuredClone(message);
  const path = rule.path.replace(/\{([^}=]+)[^}]*\}/g, (_, name: string) =>
    // A slash in a uid is one in the path, too.
    String(take(rest, name.split(".")) ?? "")
      .split("/")
      .map(encodeURIComponent)
      .join("/"),
  );
  if (rule.body === "*") return { method: rule.method, target: path, headers, body: jsonBytes(rest) };
  const body = rule.body === "" ? undefined : (take(rest, [rule.body]) ?? {});
  const query = parameters(rest).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const target = query.length === 0 ? path : `${path}?${query.join("&")}`;
  return { method: rule.method, target, headers, ...(body === undefined ? {} : { body: jsonBytes(body) }) };
}

function jsonBytes(value: Json): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** Takes the field at `path` out of `from`. */
function take(from: JsonObject, path: readonly string[]): Json | undefined {
  const [name = "", ...deeper] = path;
  const value = from[name];
  if (deeper.length > 0)
    return typeof value === "object" && value !== null ? take(value as JsonObject, deeper) : undefined;
  delete from[name];
  return value;
}

/** The fields of a message as parameters: dotted names, one for each element of a list. */
function parameters(message: JsonObject, above = ""): [name: string, value: string][] {
  return Object.entries(message).flatMap(([key, value]) => {
    const name = above + key;
    if (Array.isArray(value)) return value.map((one): [string, string] => [name, String(one)]);
    if (typeof value === "object" && value !== null) return parameters(value as JsonObject, `${name}.`);
    return [[name, String(value)]];
  });
}

/** The message in a successful response; of an error its status. */
export function fromHttp(method: DescMethod, response: ApiResponse, registry: FileRegistry): Uint8Array | Status {
  const text = new TextDecoder().decode(response.body);
  if (response.status !== 200) return statusOf(text, registry);
  const json = text === "" ? {} : JSON.parse(text);
  // JSON has members that no published message has: the times of some v1 records.
  return toBinary(method.output, fromJson(method.output, json, { registry, ignoreUnknownFields: true }));
}

function statusOf(text: string, registry: FileRegistry): Status {
  const body = JSON.parse(text) as JsonObject;
  const code = Number(body["code"] ?? RpcCode.UNKNOWN);
  const message = String(body["message"] ?? "");
  const type = registry.getMessage("google.rpc.Status");
  if (type === undefined || !Array.isArray(body["details"]) || body["details"].length === 0) return { code, message };
  return { code, message, details: toBinary(type, fromJson(type, body as never, { registry })) };
}

/** True when a call ended without a message. */
export function isStatus(result: Uint8Array | Status): result is Status {
  return "code" in result;
}
