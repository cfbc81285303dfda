/** How is a list answered that v1 itself paged? (Design: lists; the token goes through unchanged.) */
import type { PageResult } from "../json/rewrite.ts";
import type { ApiResponse } from "../model/message.ts";
import type { EnvelopeRow, Operation } from "../model/resource.ts";
import { parentOf } from "../model/uid.ts";
import { zeroText } from "./answer-plan.ts";
import { errorAnswer } from "./error.ts";
import { answerWith, readHeaders } from "./headers.ts";
import { snakeCase } from "./names.ts";
import { noteReports } from "./note.ts";
import { type PageReader, readAny } from "./pages.ts";
import type { Parts } from "./parts.ts";
import type { ListQuery } from "./query.ts";
import { parseQuery } from "./query-values.ts";
import type { Tools, V1Request } from "./tools.ts";

interface PagedParts {
  readonly path: string;
  readonly parts: Parts;
  readonly pages: PageReader;
}

/** One v2 page is one v1 page: records, and the members of v1's envelope. */
export async function answerPaged(
  operation: Operation & { readonly kind: "list" },
  query: ListQuery,
  { path, parts, pages }: PagedParts,
  request: V1Request,
  tools: Tools,
): Promise<ApiResponse> {
  const params = [...query.params, ...query.pageParams].join("&");
  const target = params === "" ? path : `${path}?${params}`;
  const response = await tools.send({ method: "GET", target, headers: readHeaders(request.headers) });
  if (response.status !== 200) return errorAnswer(response, parts.names);
  const page = await readAny(pages, response.body, tools.inTurns);
  noteReports(page.reports, tools);
  const rest = envelopeText(operation, page.scalars, request, page.keys);
  const body = Buffer.concat([Buffer.from('{"items":['), keptRecords(page, query), Buffer.from(`]${rest}}`)]);
  return answerWith(response, 200, body);
}

/** The records of the page that pass the tests which v2's list does not make. */
function keptRecords(page: PageResult, { keyTests }: ListQuery): Uint8Array {
  const kept = page.keys.flatMap((key, index) => (keyTests.every((test) => test(key)) ? [index] : []));
  if (kept.length === page.keys.length) return page.bytes;
  const records = kept.map((index) => Buffer.from(page.bytes.subarray(page.starts[index], page.ends[index])));
  return Buffer.concat(records.flatMap((record, index) => (index === 0 ? [record] : [Buffer.from(","), record])));
}

/**
 * What stands behind the items in v1's envelope: `,"name":value` for each member. `scalars`: what v2's page says; `keys`:
 * the uids of its records.
 */
export function envelopeText(
  operation: Operation & { readonly kind: "list" },
  scalars: PageResult["scalars"],
  request: V1Request,
  keys: readonly string[],
): string {
  const asked = askedFor(request.match.query);
  // Asked for no group in particular: the one that the page begins with.
  const owner = keys[0] === undefined ? undefined : parentOf(keys[0]);
  return (operation.envelope ?? [])
    .map((row) => envelopeMember(row, row.v2 === null ? (fromQuery(row, asked) ?? owner) : scalars.get(row.v2)))
    .join("");
}

type Scalar = ReturnType<PageResult["scalars"]["get"]>;

/** One member; nothing for an optional one that v2 did not send. */
function envelopeMember(row: EnvelopeRow, value: Scalar): string {
  const zero = row.presence === "explicit" ? undefined : zeroText(row);
  // 64-bit integers are texts in both versions; a number says the same.
  const shown = typeof value === "number" && row.kind === "int64" ? String(value) : value;
  const text = shown === undefined || shown === null ? zero : JSON.stringify(shown);
  return text === undefined ? "" : `,${JSON.stringify(row.v1)}:${text}`;
}

/** What v1 repeated of the request: the first of these parameters that the client sent. */
function fromQuery(row: EnvelopeRow, asked: ReadonlyMap<string, string>): string | undefined {
  return row.fromQuery?.map((name) => asked.get(name)).find((value) => value !== undefined && value !== "");
}

/** Parameters by their snake_case name. */
function askedFor(query: string): ReadonlyMap<string, string> {
  return new Map(parseQuery(query).map(({ name, value }) => [snakeCase(name), value]));
}
