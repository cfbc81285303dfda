/** Reads lines of JSON: carryover's recordings and logs, and access logs of nginx and Envoy in any of their usual words. */
import { JsonError } from "../json/error.ts";
import { parseTree } from "../json/tree.ts";
import type { Mode } from "../model/exchange.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import { credentialInJson, type FoundCredential } from "./credentials.ts";
import { type Found, isMethod, type LogFormat, skipped, targetOf } from "./found.ts";
import type { Line } from "./lines.ts";

/** Names of members, in the order in which they are looked for. */
const NAMES = {
  time: ["time", "start_time", "startTime", "time_iso8601", "@timestamp", "timestamp", "time_local", "msec", "ts"],
  method: ["method", "request_method", "requestMethod", ":method"],
  target: [
    "target",
    "request_uri",
    "requestUri",
    "x_envoy_original_path",
    "x-envoy-original-path",
    "original_path",
    "path",
    "uri",
    "url",
  ],
  query: ["args", "query_string", "query"],
  status: ["status", "response_code", "responseCode"],
  client: ["client", "user_agent", "http_user_agent", "userAgent", "user-agent"],
  request: ["request"],
} as const;

const MODES: ReadonlySet<string> = new Set<Mode>(["native", "shadow", "translate", "pass", "refused"]);

/** `refuse` ends the reading for a credential. */
export function readJsonLine({ bytes, number, last }: Line, refuse: (found: FoundCredential) => never): Found {
  const text = Buffer.from(bytes).toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const why = last ? "the file ends within this line" : "not valid JSON";
    return skipped(why, number, columnOf(bytes));
  }
  if (!isJsonObject(value)) return skipped("not a JSON object", number);
  const credential = credentialInJson(value, text);
  if (credential !== undefined) refuse(credential);
  return found(value, number);
}

/** Where the text stops being JSON. */
function columnOf(bytes: Uint8Array): number {
  try {
    parseTree(bytes);
  } catch (error) {
    if (error instanceof JsonError) return error.offset + 1;
  }
  return 1;
}

function found(value: JsonObject, line: number): Found {
  const { left, why } = value;
  if (typeof left === "number" && (why === "rate" || why === "disk")) return { kind: "gap", left, why };
  const format = formatOf(value);
  if (format === "carryover log" && (value["msg"] !== "request" || value["apiVersion"] !== "v1"))
    return { kind: "other" };
  const [method, given] = methodAndTarget(value);
  if (method === undefined || given === undefined) return skipped("no method or path", line);
  if (!isMethod(method)) return skipped("not an HTTP method", line);
  const target = targetOf(given);
  if (target === undefined) return skipped("the path has characters other than visible ASCII", line);
  const mode = text(value, ["mode"]);
  const body = value["body"];
  return {
    kind: "request",
    format,
    at: { line, column: 1 },
    request: {
      at: timeOf(text(value, NAMES.time)),
      method,
      target,
      client: text(value, NAMES.client) ?? "",
      status: Number(text(value, NAMES.status) ?? 0) || 0,
      mode: mode !== undefined && MODES.has(mode) ? (mode as Mode) : undefined,
      ...(format === "carryover recording" && typeof body === "string" ? { body } : {}),
    },
  };
}

function formatOf(value: JsonObject): LogFormat {
  if ("target" in value && "mode" in value) return "carryover recording";
  return "msg" in value && "level" in value ? "carryover log" : "JSON access log";
}

function methodAndTarget(value: JsonObject): readonly [method: string | undefined, target: string | undefined] {
  const [, method, target] = /^(\S+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(text(value, NAMES.request) ?? "") ?? [];
  const path = text(value, NAMES.target);
  const query = text(value, NAMES.query) ?? "";
  const whole = path === undefined || path.includes("?") || query === "" ? path : `${path}?${query.replace(/^\?/, "")}`;
  return [text(value, NAMES.method) ?? method, whole ?? target];
}

/** The first of `names` that has a value; `-` counts as missing. */
function text(value: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const given = value[name];
    if (typeof given === "number") return String(given);
    if (typeof given === "string" && given !== "" && given !== "-") return given;
  }
  return undefined;
}

const CLF = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/;

/** Milliseconds since 1970 of RFC 3339, of nginx's local time, and of seconds with a fraction. */
export function timeOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const [, day, month, year, clock, hours, minutes] = CLF.exec(given) ?? [];
  const seconds = /^\d{9,10}(?:\.\d+)?$/.test(given) ? Number(given) * 1000 : undefined;
  const at = seconds ?? Date.parse(day === undefined ? given : `${day} ${month} ${year} ${clock} ${hours}${minutes}`);
  return Number.isNaN(at) ? undefined : at;
}
