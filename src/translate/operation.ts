/** What an operation is given, and how it notes what it finds. */

import type { RewriteReport } from "../json/plan.ts";
import type { Exchange } from "../model/exchange.ts";
import type { ApiRequest, ApiResponse, ClientResponse, HeaderList } from "../model/http.ts";
import type { Drain, StreamingDrain } from "../model/list.ts";
import type { OperationMatch } from "../model/request.ts";
import type { CompositeName, Filter, Operation, RecordTimes, Resource, Row } from "../model/resource.ts";
import { createBodyNotes, readBody, type UnknownPolicy, type V2Body } from "./body.ts";
import type { FieldNames } from "./error.ts";
import type { InTurns } from "./pages.ts";
import { type ListQuery, readListQuery } from "./query.ts";
import type { MaskSpelling } from "./update.ts";

/** A routed v1 request with its body. */
export interface V1Request {
  readonly match: OperationMatch;
  /** The client's end-to-end fields. */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** The client has numbers for enum values and no names, as over gRPC: it reads zero for a name without one. Default: false. */
  readonly numbersOnly?: boolean | undefined;
}

/** Which spelling of masks one upstream accepts. */
export interface MaskMemory {
  readonly known: MaskSpelling | undefined;
  /** True when the configuration fixes it: then no other spelling is tried or learned. */
  readonly fixed: boolean;
  learn(spelling: MaskSpelling): void;
}

/** `first`: the spelling to begin with. `fixed`: the configuration says it. */
export function createMaskMemory(first: MaskMemory["known"], fixed: boolean): MaskMemory {
  let known = first;
  return {
    get known() {
      return known;
    },
    fixed,
    learn: (spelling) => {
      known = spelling;
    },
  };
}

/** Everything an operation may do is handed in: it does no I/O of its own. */
export interface Tools {
  readonly send: (request: ApiRequest) => Promise<ApiResponse>;
  /** For the further reads that one list needs; they queue with all readers of the upstream. */
  readonly reads: (request: ApiRequest) => Promise<ApiResponse>;
  /** The whole list, however long. */
  readonly drain: Drain;
  /** The same, but a list larger than the buffer is streamed. */
  readonly longDrain: StreamingDrain;
  readonly mask: MaskMemory;
  /** For masks in a body, for which a gateway may want another spelling than in a query. */
  readonly bodyMask: MaskMemory;
  readonly exchange: Pick<Exchange, "unknownFields" | "defaultedFields" | "mismatches" | "notes">;
  /** Called when the operation has its response: from then on the response accounts for the memory of its calls. */
  readonly done?: (() => void) | undefined;
  /** For work that would block the event loop. */
  readonly inTurns?: InTurns | undefined;
}

export interface TranslateOptions {
  /** v2's version segment, e.g. `v2beta1`. */
  readonly version: string;
  readonly unknownRequest: UnknownPolicy;
  readonly unknownResponse: "pass" | "drop";
  readonly insertZeros: boolean;
  /** Option `v1.recordTimes`; default: all. */
  readonly recordTimes?: RecordTimes | undefined;
  /** Whether the platform leaves out zeros, and so empty lists (option `upstream.v2.omitsZeros`; default `auto`). */
  readonly omitsZeros?: "auto" | "yes" | "no" | undefined;
  /** Sent as `order_by` with every page of a list (option `lists.orderBy`); undefined: the platform's own order. */
  readonly orderBy?: string | undefined;
  /** Which differences after an update are errors: fields that did not become zero, all, or none. */
  readonly mismatch: "zeros" | "report" | "fail";
}

/** One translated operation. Throws `Problem`. */
export type Translation = (request: V1Request, tools: Tools) => Promise<ClientResponse>;

/** What the operations of one resource share. */
export interface ResourceContext {
  readonly resource: Resource;
  /** Every resource of the catalogue by name, for joins. */
  readonly resources: ReadonlyMap<string, Resource>;
  readonly options: TranslateOptions;
  readonly names: FieldNames;
}

/** An operation of several calls, or with a body that rows alone cannot describe. */
export type CompositeOperation = Extract<Operation, { readonly by?: CompositeName }> & { readonly by: CompositeName };

/** Builds a translation. Throws `Error` when the catalogue lacks what the composite needs. */
export type Composite = (operation: CompositeOperation, parts: ResourceContext) => Translation;

/** The v2 path of the operation's verb. Throws `Error` when the catalogue has none. */
export function verbPath(operation: CompositeOperation, { resource, options }: ResourceContext): string {
  const verb = operation.kind === "composite" ? operation.v2 : undefined;
  if (verb === undefined) throw new Error(`${resource.name} ${operation.name}: ${operation.by} needs \`v2\`, a path`);
  return `/${resource.domain}/${options.version}/${verb}`;
}

/** The operation's query parameters. */
export function filtersOf(operation: CompositeOperation): readonly Filter[] {
  return ("filters" in operation ? operation.filters : undefined) ?? [];
}

/** The v2 member that holds the message, and the message's rows. Throws `Error` when the catalogue has neither. */
export function wrappedBody(
  operation: CompositeOperation,
  { resource }: ResourceContext,
): { wrap: string; rows: readonly Row[] } {
  if (operation.kind === "composite" && operation.wrap !== undefined && operation.body !== undefined) {
    return { wrap: operation.wrap, rows: operation.body.rows };
  }
  throw new Error(`${resource.name} ${operation.name}: ${operation.by} needs \`wrap\` and \`body\``);
}

/** `readBody`; what it found goes into the exchange, also when it throws. Names only, never values. */
export function readRequestBody(
  bytes: Uint8Array,
  rows: readonly Row[],
  unknown: UnknownPolicy,
  { exchange }: Pick<Tools, "exchange">,
): V2Body {
  const found = createBodyNotes();
  try {
    return readBody(bytes, rows, unknown, found);
  } finally {
    for (const name of found.unknown) noteUnknown(exchange, "request", name);
    for (const _ of found.droppedEnums) exchange.notes.push("enum-dropped");
    for (const _ of found.sentOn) exchange.notes.push("enum-sent-on");
    for (const _ of found.serverSet) exchange.notes.push("server-set-dropped");
  }
}

/** `readListQuery`; unknown parameters are noted in the exchange. */
export function readRequestQuery(
  { match }: V1Request,
  filters: readonly Filter[],
  { exchange }: Pick<Tools, "exchange">,
): ListQuery {
  const query = readListQuery(match.query, filters);
  if (query.unknown.length > 0) exchange.notes.push("query-unknown");
  return query;
}

/** Names come from outside, so their number is bounded. */
export const MOST_NAMES = 1_000;

export function noteUnknown(
  { unknownFields }: Pick<Exchange, "unknownFields">,
  direction: "request" | "response",
  name: string,
): void {
  if (unknownFields.length < MOST_NAMES) unknownFields.push({ direction, name });
}

/** Notes what the rewriter found in a response: names, never values. */
export function noteReports(reports: readonly RewriteReport[], tools: Pick<Tools, "exchange">): void {
  for (const { kind, object, member } of reports) {
    const name = object === "" ? member : `${object}.${member}`;
    if (kind === "unknown") noteUnknown(tools.exchange, "response", name);
    else tools.exchange.notes.push(`answer-${kind}`);
  }
}
