/** What may an operation do, and where does it note what it learns? */

import type { RewriteReport } from "../json/plan.ts";
import type { Exchange } from "../model/exchange.ts";
import type { ApiRequest, ApiResponse, ClientResponse, HeaderList } from "../model/http.ts";
import type { Drain, StreamingDrain } from "../model/list.ts";
import type { OperationMatch } from "../model/request.ts";
import type { CompositeName, Filter, Operation, RecordTimes, Resource, Row } from "../model/resource.ts";
import { type BodyNotes, createBodyNotes, readBody, type UnknownPolicy, type V2Body } from "./body.ts";
import type { FieldNames } from "./error.ts";
import type { InTurns } from "./pages.ts";
import type { MaskSpelling } from "./update.ts";

/** A v1 request recognised, with its body. */
export interface V1Request {
  readonly match: OperationMatch;
  /** The client's end-to-end fields. */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/** How one upstream wants masks spelled. */
export interface MaskMemory {
  readonly known: MaskSpelling | undefined;
  /** True when the configuration says so: then nothing else is tried or learned. */
  readonly fixed: boolean;
  learn(spelling: MaskSpelling): void;
}

/** Everything an operation may do is handed in: it does no I/O of its own. */
export interface Tools {
  readonly send: (request: ApiRequest) => Promise<ApiResponse>;
  /** The same for the further reads that one list needs: they wait for their turn among all readers of the upstream. */
  readonly reads: (request: ApiRequest) => Promise<ApiResponse>;
  /** The whole list, however long. */
  readonly drain: Drain;
  /** The same, but a list that grows longer than a buffer comes page by page. */
  readonly longDrain: StreamingDrain;
  readonly mask: MaskMemory;
  /** The same for masks that stand in a body: in JSON a gateway may want another spelling than in a query. */
  readonly bodyMask: MaskMemory;
  readonly exchange: Pick<Exchange, "unknownFields" | "defaultedFields" | "mismatches" | "notes">;
  /** To be called when the operation has its response: what its calls brought is held by the response from then on. */
  readonly done?: (() => void) | undefined;
  /** For work that would hold up the event loop. */
  readonly inTurns?: InTurns | undefined;
}

/** Settings of every operation. */
export interface TranslateOptions {
  /** v2's version segment, e.g. `v2beta1`. */
  readonly version: string;
  readonly unknownRequest: UnknownPolicy;
  readonly unknownResponse: "pass" | "drop";
  readonly insertZeros: boolean;
  /** Option `v1.recordTimes`; default: all. */
  readonly recordTimes?: RecordTimes | undefined;
  /** Does the platform leave zeros out, and empty lists with them? (Option `upstream.v2.omitsZeros`; default `auto`.) */
  readonly omitsZeros?: "auto" | "yes" | "no" | undefined;
  /** Sent as `order_by` with every page of a list (option `lists.orderBy`); undefined: the platform's own order. */
  readonly orderBy?: string | undefined;
  /** Which differences after an update are errors: those that were to become zero, all, or none. */
  readonly mismatch: "zeros" | "report" | "fail";
}

/** One operation: both halves on one screen. Throws `Problem`. */
export type Translation = (request: V1Request, tools: Tools) => Promise<ClientResponse>;

/** What is an operation made of, worked out once at the start? */

/** Shared by the operations of one resource. */
export interface ResourceContext {
  readonly resource: Resource;
  /** Every resource of the catalogue by name, for joins. */
  readonly resources: ReadonlyMap<string, Resource>;
  readonly options: TranslateOptions;
  readonly names: FieldNames;
}

/** What is a composite: an operation of several calls, or of a body that rows alone cannot say? */

/** An operation that names a composite. */
export type CompositeOperation = Extract<Operation, { readonly by?: CompositeName }> & { readonly by: CompositeName };

/** Builds the translation of an operation. Throws `Error` for one that lacks what the composite needs: a mistake in the catalogue. */
export type Composite = (operation: CompositeOperation, parts: ResourceContext) => Translation;

/** The v2 path of the operation's verb. Throws `Error` when the catalogue names none. */
export function verbPath(operation: CompositeOperation, { resource, options }: ResourceContext): string {
  const verb = operation.kind === "composite" ? operation.v2 : undefined;
  if (verb === undefined) throw new Error(`${resource.name} ${operation.name}: ${operation.by} needs \`v2\`, a path`);
  return `/${resource.domain}/${options.version}/${verb}`;
}

/** The operation's query parameters. */
export function filtersOf(operation: CompositeOperation): readonly Filter[] {
  return ("filters" in operation ? operation.filters : undefined) ?? [];
}

/** v2's member that holds the message, and the rows of that. Throws `Error` when the catalogue names neither. */
export function wrappedBody(
  operation: CompositeOperation,
  { resource }: ResourceContext,
): { wrap: string; rows: readonly Row[] } {
  if (operation.kind === "composite" && operation.wrap !== undefined && operation.body !== undefined) {
    return { wrap: operation.wrap, rows: operation.body.rows };
  }
  throw new Error(`${resource.name} ${operation.name}: ${operation.by} needs \`wrap\` and \`body\``);
}

/** What of a body, or of an answer, is worth counting? (Design: unknown fields; progress.) */

/** Reads a v1 body by `rows`, and notes what was learnt of it, also when it is refused. Throws what `readBody` throws. */
export function readRequestBody(
  bytes: Uint8Array,
  rows: readonly Row[],
  unknown: UnknownPolicy,
  tools: Pick<Tools, "exchange">,
): V2Body {
  const notes = createBodyNotes();
  try {
    return readBody(bytes, rows, unknown, notes);
  } finally {
    noteBodyFindings(notes, tools);
  }
}

/** Writes what was learnt of a body into the exchange: names, never values. */
function noteBodyFindings(notes: BodyNotes, tools: Pick<Tools, "exchange">): void {
  const { exchange } = tools;
  for (const name of notes.unknown) noteUnknown(exchange, "request", name);
  for (const _ of notes.droppedEnums) exchange.notes.push("enum-dropped");
  for (const _ of notes.serverSet) exchange.notes.push("server-set-dropped");
}

/** More names tell nobody anything; they come from outside, and their number must be bounded. */
const MOST_NAMES = 1_000;

function noteUnknown({ unknownFields }: Tools["exchange"], direction: "request" | "response", name: string): void {
  if (unknownFields.length < MOST_NAMES) unknownFields.push({ direction, name });
}

/** Writes what the rewriter met in an answer into the exchange: names, never values. */
export function noteReports(reports: readonly RewriteReport[], tools: Pick<Tools, "exchange">): void {
  for (const { kind, object, member } of reports) {
    const name = object === "" ? member : `${object}.${member}`;
    if (kind === "unknown") noteUnknown(tools.exchange, "response", name);
    else tools.exchange.notes.push(`answer-${kind}`);
  }
}
