/** How does a test run one translation without a network? */
import type { ListPlan } from "../../src/model/list.ts";
import type { ApiRequest, ApiResponse } from "../../src/model/message.ts";
import type { Operation, Resource } from "../../src/model/resource.ts";
import { createTranslations } from "../../src/translate/operations.ts";
import type { Tools, TranslateOptions } from "../../src/translate/tools.ts";

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
  readonly uid?: string;
  readonly query?: string;
  readonly body?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly options?: Partial<TranslateOptions>;
  readonly known?: Tools["mask"]["known"];
  /** The platform. */
  readonly answer: (request: ApiRequest) => ApiResponse;
}

/** Runs the operation; the drain reads page after page by token and believes everything. */
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
    mask: { known: input.known, learn: (spelling) => learned.push(spelling) },
    drain: async (plan) => drainAll(plan, send),
  };
  const translation = createTranslations(input.resources, { ...OPTIONS, ...input.options }).get(input.operation);
  if (translation === undefined) throw new Error(`${input.resource.name} ${input.operation.name} has no translation`);
  const uid = input.uid ?? "";
  const response = await translation(
    {
      match: { resource: input.resource, operation: input.operation, uid, uidPath: uid, query: input.query ?? "" },
      headers: input.headers ?? [["authorization", "Bearer secret"]],
      body: Buffer.from(input.body ?? ""),
    },
    tools,
  );
  return { response, body: JSON.parse(Buffer.from(response.body).toString()), sent, exchange, learned };
}

async function drainAll(
  plan: ListPlan,
  send: (request: ApiRequest) => Promise<ApiResponse>,
): ReturnType<Tools["drain"]> {
  const chunks: Uint8Array[] = [];
  let token = "";
  let pages = 0;
  let records = 0;
  do {
    const response = await send(plan.request({ size: 200, ...(token === "" ? {} : { token }) }));
    if (response.status !== 200) return { kind: "refused", response };
    const page = plan.read(response);
    pages += 1;
    page.keys.forEach((_, index) => {
      if (page.hidden?.[index] === 1) return;
      records += 1;
      chunks.push(page.bytes.subarray(page.starts[index], page.ends[index]));
    });
    token = page.nextPageToken;
  } while (token !== "");
  return { kind: "list", chunks, records, pages, witness: "none" };
}

/** The operation of that kind; throws when the resource has none. */
export function operationOf(resource: Resource, kind: Operation["kind"]): Operation {
  const found = resource.operations.find((operation) => operation.kind === kind);
  if (found === undefined) throw new Error(`${resource.name} has no ${kind}`);
  return found;
}
