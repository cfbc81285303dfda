/** Runs one translation without a network. */

import type { ApiRequest, ApiResponse } from "../../src/model/http.ts";
import { Problem } from "../../src/model/problem.ts";
import type { OperationMatch } from "../../src/model/request.ts";
import type { EnumTable, EnvelopeRow, Filter, Join, Operation, Resource, Row } from "../../src/model/resource.ts";
import type { Tools, TranslateOptions } from "../../src/translate/operation.ts";
import { believingDrains } from "../support/believing-drain.ts";
import { sharedTranslations } from "../support/shared.ts";
import { gathered } from "../support/whole.ts";

export const OPTIONS: TranslateOptions = {
  version: "v2beta1",
  unknownRequest: "drop",
  unknownResponse: "pass",
  insertZeros: true,
  mismatch: "zeros",
};

/** A JSON answer. */
export function json(status: number, body: unknown): ApiResponse {
  return { status, headers: [["content-type", "application/json"]], body: Buffer.from(JSON.stringify(body)) };
}

/** What a run did and learnt. */
export interface Run {
  readonly response: ApiResponse;
  readonly body: unknown;
  readonly sent: readonly ApiRequest[];
  readonly exchange: Tools["exchange"];
  readonly learned: readonly string[];
}

export interface RunInput {
  readonly resources: readonly Resource[];
  readonly resource: Resource;
  readonly operation: Operation;
  /** Default: `u` where the operation is about one record, else none. */
  readonly uid?: string;
  readonly query?: string;
  /** Instead of `uid` and `query`: what the router made of a path. */
  readonly match?: OperationMatch;
  readonly body?: string;
  readonly numbersOnly?: boolean;
  readonly headers?: readonly (readonly [string, string])[];
  readonly options?: Partial<TranslateOptions>;
  readonly known?: Tools["mask"]["known"];
  readonly knownInBodies?: Tools["mask"]["known"];
  /** Default: false. */
  readonly fixed?: boolean;
  /** Called at each turn of long work; default: no work is long. */
  readonly turn?: () => void;
  /** How lists are read; default: believing everything. */
  readonly drains?: (send: Tools["send"]) => Pick<Tools, "drain" | "longDrain">;
  /** The platform. */
  readonly answer: (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;
}

/** Runs the operation; the drain reads page after page by token and believes everything. One chunk is one page. */
export async function runOperation(input: RunInput): Promise<Run> {
  const sent: ApiRequest[] = [];
  const learned: string[] = [];
  const exchange: Tools["exchange"] = { unknownFields: [], defaultedFields: [], mismatches: [], notes: [] };
  const send = async (request: ApiRequest): Promise<ApiResponse> => {
    sent.push(request);
    return input.answer(request);
  };
  const tools: Tools = {
    send,
    exchange,
    mask: { known: input.known, fixed: input.fixed ?? false, learn: (spelling) => learned.push(spelling) },
    bodyMask: {
      known: input.knownInBodies ?? "camelCase",
      fixed: false,
      learn: (spelling) => learned.push(`${spelling} in bodies`),
    },
    reads: send,
    inTurns: input.turn && ((work) => work(async () => input.turn?.())),
    ...(input.drains ?? believingDrains)(send),
  };
  const translation = sharedTranslations(input.resources, { ...OPTIONS, ...input.options }).get(input.operation);
  if (translation === undefined) throw new Error(`${input.resource.name} ${input.operation.name} has no translation`);
  const ofOne = input.operation.kind === "get" || input.operation.kind === "update";
  const uid = input.uid ?? (ofOne ? "u" : "");
  const answer = await translation(
    {
      match: input.match ?? {
        resource: input.resource,
        operation: input.operation,
        uid,
        uidPath: uid,
        segment: "",
        query: input.query ?? "",
      },
      headers: input.headers ?? [["authorization", "Bearer secret"]],
      body: Buffer.from(input.body ?? ""),
      numbersOnly: input.numbersOnly,
    },
    tools,
  );
  const response = await gathered(answer);
  return { response, body: JSON.parse(Buffer.from(response.body).toString()), sent, exchange, learned };
}

/** The operation of that name; throws when the resource has none. */
export function operationOf(resource: Resource, name: string): Operation {
  const found = resource.operations.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`${resource.name} has no ${name}`);
  return found;
}

/** What makes up a small resource of a test. */
export interface ThingInput {
  readonly rows: readonly Row[];
  readonly v2Only?: readonly string[];
  readonly filters?: readonly Filter[];
  readonly joins?: readonly Join[];
  readonly envelope?: readonly EnvelopeRow[];
  readonly list?: "drain" | "paged";
  /** Default: `thing`; its collection is the plural. */
  readonly name?: string;
}

/** The uid row that every record has. */
export const ID: Row = { v1: "id", v2: "uid", kind: "string", access: "output" };
/** A plain text that clients set. */
export const NAME: Row = { v1: "name", v2: "name", kind: "string", zero: "" };

/** Values that both versions know, one that v2 lacks, some without a number in one of them, and one that v1 never had. */
export const COLOUR: EnumTable = {
  name: "colour",
  unknown: "drop",
  values: [
    ["ANY", 0, "COLOUR_UNSPECIFIED", 0],
    ["RED", 1, "COLOUR_RED", 7],
    ["ULTRAVIOLET", 2, null, -1],
    ["NAMED", -1, "COLOUR_NAMED", 9],
    ["NUMBERLESS", 4, "COLOUR_TEXT", -1],
    [null, -1, "COLOUR_NEW", 1],
  ],
};

/** A resource made by hand, with every operation that is translated. */
export function thing(input: ThingInput): Resource {
  const { rows, v2Only = [], filters = [], joins = [], envelope, list = "drain", name = "thing" } = input;
  const shape = { rows, v2Only };
  return {
    name,
    domain: "iam",
    v1: `${name}s`,
    v2: `${name}s`,
    items: `${name}s`,
    key: "id",
    list,
    orderedByUid: true,
    operations: [
      { kind: "list", name: "list", answer: shape, filters, joins, ...(envelope === undefined ? {} : { envelope }) },
      { kind: "get", name: "get", answer: shape, joins, extension: true },
      { kind: "create", name: "create", body: shape, answer: shape },
      { kind: "update", name: "update", body: shape, answer: shape },
      { kind: "delete", name: "delete" },
    ],
  };
}

type RunMore = Partial<Omit<RunInput, "resource" | "operation" | "body">> & { readonly body?: unknown };

/** A platform that holds nothing and has everything: an empty list, or the record `u`, or the one that is asked for. */
export function anything(resource: Resource): (request: ApiRequest) => ApiResponse {
  return ({ method, target }) => {
    const rest = target.split("?")[0]?.split("/").slice(4).join("/") ?? "";
    if (rest === "" && method === "GET") return json(200, { [resource.items]: [] });
    return json(200, { uid: rest === "" || method === "POST" ? "u" : rest });
  };
}

/** Runs one operation of `resource`. `body`: text as it is, anything else as JSON. Without `answer` v2 has `anything`. */
export function run(resource: Resource, kind: Operation["kind"], more: RunMore = {}): Promise<Run> {
  const { body, ...rest } = more;
  return runOperation({
    resources: [resource],
    answer: anything(resource),
    ...rest,
    resource,
    operation: operationOf(resource, kind),
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

/** The Problem that `work` ends with; throws when it ends otherwise. */
export async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const outcome = await work.then(
    (value) => ({ value }),
    (thrown: unknown) => ({ thrown }),
  );
  if ("thrown" in outcome && outcome.thrown instanceof Problem) return outcome.thrown;
  throw new Error(`expected a Problem, got ${JSON.stringify(outcome)}`, { cause: outcome });
}

/** The calls of a run: method and target. */
export const callsOf = ({ sent }: Pick<Run, "sent">): string[] =>
  sent.map(({ method, target }) => `${method} ${target}`);

/** The body of v2's refusal of the field `name`. */
export const refusalOf = (name: string) => ({
  code: 3,
  message: `Invalid argument: ${name}: is wrong`,
  details: [
    {
      "@type": "type.googleapis.com/google.rpc.BadRequest",
      fieldViolations: [{ field: name, description: "is wrong" }],
    },
  ],
});

/** The text of a body that was sent. */
export function textOf(request: ApiRequest | undefined): string {
  return Buffer.from(request?.body ?? "").toString();
}

/** The query of a request, sorted and without what a drain adds. */
export function queryOf(request: ApiRequest | undefined): string {
  const params = new URLSearchParams(request?.target.split("?")[1] ?? "");
  params.delete("page_size");
  params.sort();
  return decodeURIComponent(params.toString().replaceAll("+", "%20"));
}

/** The fields that a PATCH names. */
export function maskOf(request: ApiRequest | undefined): readonly string[] {
  const query = request?.target.split("?")[1] ?? "";
  const mask = /^updateMask=([^&]*)$/.exec(query)?.[1] ?? "";
  return mask === "" ? [] : mask.split(",");
}
