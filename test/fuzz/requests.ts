/** The fuzzer's well-formed starting requests: every operation of both versions, made from the catalogue. */
import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import type { Operation, Resource, Row } from "../../src/model/resource.ts";
import { goodValue } from "../property/bad-bodies.ts";

const UID = `${"0a".repeat(20)}/${"1b".repeat(8)}`;
const HEADERS =
  "Host: api.example\r\nAuthorization: Bearer t0ken\r\nUser-Agent: fuzz/1\r\nAccept: application/json\r\n";
const METHODS = { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" } as const;

/** A request as bytes (latin1). `chunks`: the body goes out in chunks of so many bytes, 0 in one piece with its length. */
export function message(method: string, target: string, body?: string, chunks = 0): string {
  const head = `${method} ${target} HTTP/1.1\r\n${HEADERS}`;
  if (body === undefined) return `${head}\r\n`;
  const bytes = Buffer.from(body).toString("latin1");
  const typed = `${head}Content-Type: application/json\r\n`;
  if (chunks === 0) return `${typed}Content-Length: ${bytes.length}\r\n\r\n${bytes}`;
  const pieces = bytes.match(new RegExp(`[^]{1,${chunks}}`, "g")) ?? [];
  const framed = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join("");
  return `${typed}Transfer-Encoding: chunked\r\n\r\n${framed}0\r\n\r\n`;
}

/** A good body of these rows: every member that a client may send, one of each oneof. */
function bodyOf(rows: readonly Row[]): string {
  const sent = rows.filter(
    (row, index) =>
      row.access !== "output" &&
      (row.oneof === undefined || rows.findIndex(({ oneof }) => oneof === row.oneof) === index),
  );
  return `{${sent.map((row) => `${JSON.stringify(row.v1)}:${goodValue(row)}`).join(",")}}`;
}

const filled = (template: string): string =>
  template
    .replace(/\{[^{}]*=\*\*\}|\{uid\}/, UID)
    .replace(/\{[^{}]*\}/, "one")
    .replace(/^\//, "");

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly body?: string;
}

/** The v1 request for an operation, and v2's own form of the same. */
export function requestsOf(resource: Resource, operation: Operation): readonly Asked[] {
  const { domain, v1, v2 } = resource;
  const rows = "body" in operation ? operation.body?.rows : undefined;
  const body = rows === undefined ? undefined : bodyOf(rows);
  const whole = body !== undefined && "by" in operation && operation.by === "create-batch" ? `[${body}]` : body;
  const with1 = whole === undefined ? {} : { body: whole };
  if ("path" in operation) {
    const own = { method: operation.method, target: `/${domain}/v1/${filled(operation.path)}`, ...with1 };
    if (operation.kind !== "call") return [own];
    const v2Body = operation.v2.method === "GET" ? {} : { body: "{}" };
    return [own, { method: operation.v2.method, target: `/${domain}/v2beta1/${filled(operation.v2.path)}`, ...v2Body }];
  }
  const at = operation.kind === "list" ? "" : `/${UID}`;
  const v2Method = operation.kind === "update" ? "PATCH" : METHODS[operation.kind];
  const query = operation.kind === "list" ? "?page_size=2" : operation.kind === "update" ? "?updateMask=name" : "";
  return [
    { method: METHODS[operation.kind], target: `/${domain}/v1/${v1}${at}`, ...with1 },
    {
      method: v2Method,
      target: `/${domain}/v2beta1/${v2}${at}${query}`,
      ...(rows === undefined ? {} : { body: "{}" }),
    },
  ];
}

/** Lists by each of their filters: queries are where two parsers differ most. */
function filtered(resource: Resource): readonly Asked[] {
  return resource.operations.flatMap((operation) =>
    operation.kind === "list"
      ? operation.filters.map(({ v1 }) => ({ method: "GET", target: `/${resource.domain}/v1/${resource.v1}?${v1}=a` }))
      : [],
  );
}

/** Everything as bytes: requests with a body once with its length and once in chunks. */
export function wellFormed({ resources, natives }: Catalogue): readonly string[] {
  const asked: readonly Asked[] = [
    ...resources.flatMap((resource) => [
      ...resource.operations.flatMap((operation) => requestsOf(resource, operation)),
      ...filtered(resource),
    ]),
    ...natives.flatMap(({ domain, operations }) =>
      operations.map(({ method, path }) => ({
        method,
        target: `/${domain}/v1/${filled(path)}`,
        ...(method === "POST" || method === "PUT" ? { body: "{}" } : {}),
      })),
    ),
    { method: "GET", target: "/sts/exchange?aud=a&identity=b" },
    { method: "POST", target: "/sts/exchange", body: '{"aud":["a"]}' },
    { method: "HEAD", target: "/iam/v1/groups" },
    { method: "OPTIONS", target: `/iam/v1/groups/${UID}` },
  ];
  return asked.flatMap(({ method, target, body }) => [
    message(method, target, body),
    ...(body === undefined ? [] : [message(method, target, body, 7)]),
  ]);
}
