/** How do v2 records become the v1 records of one shape, joins included? */
import type { ObjectPlan, Report } from "../json/plan.ts";
import { createPageRewriter, createValueRewriter } from "../json/rewrite.ts";
import type { DrainRefused } from "../model/list.ts";
import type { Join, Resource, Shape } from "../model/resource.ts";
import { answerPlan } from "./answer-plan.ts";
import { type CompiledJoin, compileJoins, createJoinReader } from "./joins.ts";
import { pagePlan, readUpstream } from "./pages.ts";
import type { Parts } from "./parts.ts";
import type { Tools, TranslateOptions, V1Request } from "./tools.ts";

/** Shows records of one shape. */
export interface Show {
  /** The edits when a record needs nothing else; undefined when parts of it lie in other records. */
  readonly plan: ObjectPlan | undefined;
  /** One v2 record (a whole body) as v1 showed it. Throws `Problem` UPSTREAM_INVALID, with `metadata`. */
  one(
    record: Uint8Array,
    request: V1Request,
    tools: Tools,
    metadata?: Readonly<Record<string, string>>,
  ): Promise<Shown>;
  /** A function for chunks (`rec,…,rec`) of one list; what was joined for one chunk is not read again for the next. */
  chunks(request: V1Request, tools: Tools): (records: Uint8Array) => Promise<Shown>;
}

/** Bytes of v1 records, or the platform's refusal of a joined read. */
export type Shown = { readonly kind: "shown"; readonly bytes: Uint8Array } | DrainRefused;

/** How `shape` is shown; `joins`: its parts in other records. */
export function createShow(shape: Shape, joins: readonly Join[], parts: Parts): Show {
  const { options, resource, resources } = parts;
  if (joins.length === 0) return plainShow(answerPlan(shape, answerOptions(options)));
  const compiled = compileJoins(joins, resources, options.version, (other, whole) => {
    const { unknown, insertZeros } = answerOptions(options);
    return answerPlan(recordShape(other), { unknown, insertZeros: insertZeros && whole });
  });
  return joinedShow(shape, compiled, resource, options);
}

function plainShow(plan: ObjectPlan): Show {
  const rewrite = createValueRewriter(plan);
  const show = (record: Uint8Array, tools: Tools, metadata?: Readonly<Record<string, string>>): Shown => {
    const { bytes, reports } = readUpstream(() => rewrite(record), metadata);
    noteReports(reports, tools);
    return { kind: "shown", bytes };
  };
  return {
    plan,
    one: async (record, _request, tools, metadata) => show(record, tools, metadata),
    chunks: (_request, tools) => async (records) => show(records, tools),
  };
}

function joinedShow(shape: Shape, joins: readonly CompiledJoin[], resource: Resource, options: TranslateOptions): Show {
  const chunks: Show["chunks"] = (request, tools) => {
    const reader = createJoinReader(joins, request.headers, tools);
    return async (records) => {
      const outcome = await reader.read(records);
      if (outcome.kind === "refused") return outcome;
      const record = answerPlan(
        shape,
        answerOptions(options),
        joins.map(({ join }) => join),
        outcome.joined,
      );
      const rewrite = createPageRewriter(pagePlan(resource, record));
      const { bytes, reports } = readUpstream(() => rewrite(envelope(resource, records)));
      noteReports(reports, tools);
      return { kind: "shown", bytes };
    };
  };
  return { plan: undefined, one: (record, request, tools) => chunks(request, tools)(record), chunks };
}

/** The chunk as a page again, for the page rewriter. */
function envelope(resource: Resource, records: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`{${JSON.stringify(resource.items)}:[`), records, Buffer.from("]}")]);
}

/** The shape in which a resource's own list or Get shows a record. */
function recordShape(resource: Resource): Shape {
  for (const operation of resource.operations) {
    if (operation.kind === "list" || operation.kind === "get") return operation.answer;
  }
  throw new Error(`${resource.name} has no shape to be joined in`);
}

/** Settings of the rewriter. */
export function answerOptions(options: TranslateOptions): { unknown: "pass" | "drop"; insertZeros: boolean } {
  return { unknown: options.unknownResponse, insertZeros: options.insertZeros };
}

/** Writes what the rewriter met into the exchange: names, never values. */
export function noteReports(reports: readonly Report[], tools: Pick<Tools, "exchange">): void {
  for (const { kind, object, member } of reports) {
    const name = object === "" ? member : `${object}.${member}`;
    if (kind === "unknown") tools.exchange.unknownFields.push({ direction: "response", name });
    else tools.exchange.notes.push(`answer-${kind}`);
  }
}
