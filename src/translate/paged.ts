/** How is a list answered that v1 itself paged? (Design: lists; the token goes through unchanged.) */
import type { PageResult } from "../json/rewrite.ts";
import type { ApiResponse } from "../model/message.ts";
import type { Operation, Row } from "../model/resource.ts";
import { parentOf } from "../model/uid.ts";
import { zeroText } from "./answer-plan.ts";
import { errorAnswer } from "./error.ts";
import { answerWith, readHeaders } from "./headers.ts";
import { readUpstream } from "./pages.ts";
import type { Parts } from "./parts.ts";
import type { ListQuery } from "./query.ts";
import { noteReports } from "./show.ts";
import type { Tools, V1Request } from "./tools.ts";

interface PagedParts {
  readonly path: string;
  readonly parts: Parts;
  readonly pages: (body: Uint8Array) => PageResult;
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
  const page = readUpstream(() => pages(response.body));
  noteReports(page.reports, tools);
  const members = (operation.envelope ?? []).flatMap((row) => envelopeMember(row, page, query));
  const rest = members.length === 0 ? "" : `,${members.join(",")}`;
  const body = Buffer.concat([Buffer.from('{"items":['), page.bytes, Buffer.from(`]${rest}}`)]);
  return answerWith(response, 200, body);
}

/** `"name":value` of one member; nothing for an optional one that v2 did not send. */
function envelopeMember(row: Row, page: PageResult, query: ListQuery): string[] {
  const value = row.v2 === null ? ownerOf(page, query) : page.scalars.get(row.v2);
  if (value !== undefined && value !== null) return [`${JSON.stringify(row.v1)}:${JSON.stringify(value)}`];
  const zero = row.presence === "explicit" ? undefined : zeroText(row);
  return zero === undefined ? [] : [`${JSON.stringify(row.v1)}:${zero}`];
}

/** The group that owns the records of this page: the one that was asked for, else the parent that all of them share. */
function ownerOf(page: PageResult, query: ListQuery): string | undefined {
  const scope = query.params.find((param) => /^uidp\.(?:children_of|descendants_of)=/.test(param));
  if (scope !== undefined) return decodeURIComponent(scope.slice(scope.indexOf("=") + 1));
  const parents = new Set(page.keys.map(parentOf));
  const [only] = parents;
  return parents.size === 1 ? only : undefined;
}
