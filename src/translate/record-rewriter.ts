/** How do v2 records become the v1 records of one shape, joins included? */
import type { ObjectPlan } from "../json/plan.ts";
import { createPageRewriter, createValueRewriter } from "../json/rewrite.ts";
import type { ListPlan, ShownChunk } from "../model/list.ts";
import type { Join, Resource, Shape } from "../model/resource.ts";
import { type CompiledJoin, compileJoins, createJoinReader } from "./joins.ts";
import { noteReports, type ResourceContext, type Tools, type TranslateOptions, type V1Request } from "./operation.ts";
import { checkKey, invalidResponse, keyOf, pagePlan, readUpstream, V2_KEY } from "./pages.ts";
import { responsePlan } from "./response-plan.ts";

/** Shows records of one shape. */
export interface RecordRewriter {
  /** The edits when a record needs nothing else; undefined when parts of it lie in other records. */
  readonly plan: ObjectPlan | undefined;
  /** For one request; undefined when `plan` says everything. What was joined for one chunk is not read again for the next. */
  readonly chunk: ((request: V1Request, tools: Tools) => NonNullable<ListPlan["show"]>) | undefined;
  /**
   * One v2 record (a whole body) as v1 showed it. `uid`: which one was asked for; undefined for one that v2 has just made.
   * Throws `Problem` UPSTREAM_INVALID, with `metadata`, also for another record than that.
   */
  rewriteOne(
    record: Uint8Array,
    uid: string | undefined,
    request: V1Request,
    tools: Tools,
    metadata?: Readonly<Record<string, string>>,
  ): Promise<RewrittenRecord>;
}

/** Bytes of v1 records, or the platform's refusal of a joined read. */
export type RewrittenRecord = ShownChunk;

/** How `shape` is shown; `joins`: its parts in other records. */
export function createRecordRewriter(shape: Shape, joins: readonly Join[], parts: ResourceContext): RecordRewriter {
  const { options, resource, resources } = parts;
  if (joins.length === 0) {
    return plainRewriter(
      responsePlan(shape, rewriterOptions(options)),
      shape.rows.some(({ v2 }) => v2 === V2_KEY),
    );
  }
  const compiled = compileJoins(joins, resources, options.version, (other, whole) => {
    const { unknown, insertZeros } = rewriterOptions(options);
    return responsePlan(recordShape(other), { unknown, insertZeros: insertZeros && whole });
  });
  return joinedRewriter(shape, compiled, resource, options);
}

/** `keyed`: every record has a uid; one without is some other object, and its zeros would be made up. */
function plainRewriter(plan: ObjectPlan, keyed: boolean): RecordRewriter {
  const rewrite = createValueRewriter(plan);
  return {
    plan,
    chunk: undefined,
    async rewriteOne(record, uid, _request, tools, metadata) {
      const { bytes, reports } = readUpstream(() => rewrite(record), metadata);
      if (keyed && !beginsWithKey(record, uid)) checkKey(keyOf(record), uid, metadata);
      noteReports(reports, tools);
      return { kind: "shown", bytes };
    },
  };
}

function joinedRewriter(
  shape: Shape,
  joins: readonly CompiledJoin[],
  resource: Resource,
  options: TranslateOptions,
): RecordRewriter {
  const plans = joins.map(({ join }) => join);
  const read = (request: V1Request, tools: Tools) => {
    const reader = createJoinReader(joins, request.headers, tools);
    return async (records: Uint8Array) => {
      const outcome = await reader.read(records);
      if (outcome.kind === "refused") return outcome;
      const record = responsePlan(shape, rewriterOptions(options), plans, outcome.joined);
      const rewrite = createPageRewriter(pagePlan(resource, record));
      const page = readUpstream(() => rewrite(envelope(resource, records)));
      noteReports(page.reports, tools);
      return { kind: "shown", page } as const;
    };
  };
  return {
    plan: undefined,
    chunk: (request, tools) => {
      const show = read(request, tools);
      return async (chunk) => {
        const result = await show(chunk);
        return result.kind === "refused" ? result : { kind: "shown", bytes: result.page.bytes };
      };
    },
    async rewriteOne(body, uid, request, tools, metadata) {
      const result = await read(request, tools)(body);
      if (result.kind === "refused") return result;
      const { page } = result;
      if (page.keys.length !== 1) throw invalidResponse("expected one record", metadata);
      checkKey(page.keys[0], uid, metadata);
      return { kind: "shown", bytes: page.bytes };
    },
  };
}

/** How most platforms begin a record. */
const KEY_FIRST = Buffer.from(`{${JSON.stringify(V2_KEY)}:"`);

/** Most platforms write the uid first, and then no byte behind it need be looked at. The rewriter lets no key come twice. */
function beginsWithKey(record: Uint8Array, uid: string | undefined): boolean {
  if (uid === undefined || record[KEY_FIRST.length + uid.length] !== 0x22) return false;
  for (let i = 0; i < KEY_FIRST.length; i++) if (record[i] !== KEY_FIRST[i]) return false;
  for (let i = 0; i < uid.length; i++) {
    const code = uid.charCodeAt(i);
    // Behind a backslash the bytes mean something else than they are.
    if (code === 0x5c || code > 0x7e || record[KEY_FIRST.length + i] !== code) return false;
  }
  return true;
}

/** The chunk as a page again, for the page rewriter. */
function envelope(resource: Resource, records: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`{${JSON.stringify(resource.items)}:[`), records, Buffer.from("]}")]);
}

/** The shape in which a resource's own list or Get shows a record. */
export function recordShape(resource: Resource): Shape {
  for (const operation of resource.operations) {
    if (operation.kind === "list" || operation.kind === "get") return operation.answer;
  }
  throw new Error(`${resource.name} has no shape to be joined in`);
}

/** Settings of the rewriter. */
export function rewriterOptions(options: TranslateOptions): { unknown: "pass" | "drop"; insertZeros: boolean } {
  return { unknown: options.unknownResponse, insertZeros: options.insertZeros };
}
