/** Turns v2 records into v1 records of one shape, joins included. */
import type { ObjectPlan } from "../json/plan.ts";
import { createPageRewriter, createValueRewriter, type PageResult } from "../json/rewrite.ts";
import type { ApiResponse, HeaderList } from "../model/http.ts";
import type { DrainRefused, ListPlan } from "../model/list.ts";
import type { Join, Shape } from "../model/resource.ts";
import { errorResponse } from "./error.ts";
import { respondWith } from "./headers.ts";
import { compileJoins, createJoinReader, type JoinedRecord } from "./joins.ts";
import { noteReports, type ResourceContext, type Tools, type V1Request } from "./operation.ts";
import {
  AT_ONCE_BYTES,
  asPage,
  checkKey,
  invalidResponse,
  keyOf,
  type Metadata,
  pagePlan,
  readUpstream,
  V2_KEY,
} from "./pages.ts";
import { responsePlan } from "./response-plan.ts";

/** `chunk`: for one request; undefined when `plan` is all that a record needs. Joined records are kept between its chunks. */
interface RewriterParts {
  /** The edits; undefined when parts of a record lie in other records. */
  readonly plan: ObjectPlan | undefined;
  readonly chunk: ((request: V1Request, tools: Tools) => NonNullable<ListPlan["show"]>) | undefined;
  /**
   * One v2 record (a whole body) as v1 showed it. `uid`: the record that was asked for; undefined for a new one.
   * Throws `Problem` UPSTREAM_INVALID, with `metadata`, also for another record than that. At once where nothing is joined.
   */
  rewriteOne(
    record: Uint8Array,
    uid: string | undefined,
    request: V1Request,
    tools: Tools,
    metadata?: Metadata,
  ): ShownRecord | Promise<ShownRecord>;
}

/** One record as the client sees it, or the platform's refusal of a call that it needed. */
type ShownRecord = { readonly kind: "shown"; readonly bytes: Uint8Array } | DrainRefused;

/** Rewrites records of one shape. */
export interface RecordRewriter extends RewriterParts {
  /** The same as a whole response, with the headers of `from` and `extra`, or the platform's refusal of a joined read. */
  respond(
    from: ApiResponse,
    uid: string | undefined,
    request: V1Request,
    tools: Tools,
    metadata?: Metadata,
    extra?: () => HeaderList,
  ): ApiResponse | Promise<ApiResponse>;
}

/** `joins`: parts of a record that lie in other records. */
export function createRecordRewriter(shape: Shape, joins: readonly Join[], parts: ResourceContext): RecordRewriter {
  const rewriter = joins.length === 0 ? plainRewriter(shape, parts) : joinedRewriter(shape, joins, parts);
  return {
    ...rewriter,
    respond(from, uid, request, tools, metadata, extra) {
      const respond = (record: ShownRecord): ApiResponse =>
        record.kind === "refused"
          ? errorResponse(record.response, parts.names)
          : respondWith(from, 200, record.bytes, extra?.());
      const record = rewriter.rewriteOne(from.body, uid, request, tools, metadata);
      return record instanceof Promise ? record.then(respond) : respond(record);
    },
  };
}

function plainRewriter(shape: Shape, { options }: ResourceContext): RewriterParts {
  const plan = responsePlan(shape, options);
  const rewrite = createValueRewriter(plan);
  // A record without its uid is some other object, and its zeros would be made up.
  const keyed = shape.rows.some(({ v2 }) => v2 === V2_KEY);
  return {
    plan,
    chunk: undefined,
    rewriteOne(record, uid, _request, tools, metadata) {
      const { bytes, reports } = readUpstream(() => rewrite(record), metadata);
      if (keyed && !beginsWithKey(record, uid)) checkKey(keyOf(record), uid, metadata);
      noteReports(reports, tools);
      return { kind: "shown", bytes };
    },
  };
}

function joinedRewriter(shape: Shape, joins: readonly Join[], parts: ResourceContext): RewriterParts {
  const { resource, options } = parts;
  const compiled = compileJoins(joins, parts);
  const readAndRewrite = (request: V1Request, tools: Tools) => {
    const reader = createJoinReader(compiled, request.headers, tools);
    return async (bytes: Uint8Array) => {
      const outcome = await reader(bytes);
      if (outcome.kind === "refused") return outcome;
      const { records, joined } = outcome;
      const plan = responsePlan(shape, options, joins, joined);
      const rewrite = createPageRewriter(pagePlan(resource, plan));
      function* pages(): Generator<PageResult> {
        for (const part of inParts(records)) {
          const page = readUpstream(() => rewrite(asPage(resource.items, part)));
          noteReports(page.reports, tools);
          yield page;
        }
      }
      return { kind: "shown", records, pages } as const;
    };
  };
  return {
    plan: undefined,
    chunk: (request, tools) => {
      const rewrite = readAndRewrite(request, tools);
      return async (chunk) => {
        const result = await rewrite(chunk);
        if (result.kind === "refused") return result;
        const { records, pages } = result;
        return {
          kind: "shown",
          joinedBytes: records.reduce((sum, record) => sum + record.joinedBytes, 0),
          parts: (function* () {
            for (const { bytes } of pages()) yield bytes;
          })(),
        };
      };
    },
    async rewriteOne(body, uid, request, tools, metadata) {
      const result = await readAndRewrite(request, tools)(body);
      if (result.kind === "refused") return result;
      const [page, ...more] = result.pages();
      if (page?.keys.length !== 1 || more.length > 0) throw invalidResponse("expected one record", metadata);
      checkKey(page.keys[0], uid, metadata);
      return { kind: "shown", bytes: page.bytes };
    },
  };
}

/** Neighbours together, as long as what they become can be made at once. Two hundred records may share one of megabytes. */
function* inParts(records: readonly JoinedRecord[]): Generator<readonly Uint8Array[]> {
  let part: Uint8Array[] = [];
  let size = 0;
  for (const { bytes, joinedBytes } of records) {
    const length = bytes.length + joinedBytes;
    if (part.length > 0 && size + length > AT_ONCE_BYTES) {
      yield part;
      part = [];
      size = 0;
    }
    part.push(bytes);
    size += length;
  }
  if (part.length > 0) yield part;
}

const KEY_FIRST = Buffer.from(`{${JSON.stringify(V2_KEY)}:"`);

/** Most platforms write the uid first: then no further byte need be looked at, since the rewriter refuses a second uid. */
function beginsWithKey(record: Uint8Array, uid: string | undefined): boolean {
  if (uid === undefined || record[KEY_FIRST.length + uid.length] !== 0x22) return false;
  for (let i = 0; i < KEY_FIRST.length; i++) if (record[i] !== KEY_FIRST[i]) return false;
  for (let i = 0; i < uid.length; i++) {
    const code = uid.charCodeAt(i);
    // After a backslash, bytes are part of an escape.
    if (code === 0x5c || code > 0x7e || record[KEY_FIRST.length + i] !== code) return false;
  }
  return true;
}
