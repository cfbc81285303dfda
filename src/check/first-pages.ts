/** Which first pages does the platform give? (Read once, for all probes to look at.) */
import type { Catalogue } from "../catalogue.ts";
import type { Config } from "../config.ts";
import { isJsonObject, type JsonObject, member } from "../model/json.ts";
import { collectionPath } from "../model/match.ts";
import { Problem } from "../model/problem.ts";
import type { Operation, Resource } from "../model/resource.ts";
import { pageTarget } from "../translate/pages.ts";
import type { Answer, Api } from "./api.ts";
import type { Finding } from "./finding.ts";

/** The page size that every drain asks for (specification section 8: the largest). */
export const PAGE_SIZE = 200;

/** One page of a v2 list. */
export interface Page {
  readonly records: readonly JsonObject[];
  readonly uids: readonly string[];
  /** The page without its records. */
  readonly envelope: JsonObject;
  /** Empty on the last page. */
  readonly nextPageToken: string;
  /** Undefined when there is none, or it is no whole number. */
  readonly totalCount: number | undefined;
  readonly skipped: number | undefined;
}

export type ListOperation = Extract<Operation, { readonly kind: "list" }>;

/** A list that carryover reads. */
export interface List {
  readonly resource: Resource;
  readonly operation: ListOperation;
  /** `/iam/v2beta1/groups`. */
  readonly path: string;
  /** Sent with every page: `order_by`, where `lists.orderBy` is set. */
  readonly params: readonly string[];
}

/** A list and what the platform said when asked for its first page. */
export interface ReadList extends List {
  /** Why there is none, when the platform did not answer. */
  readonly answer: Answer | Problem;
  /** Undefined when it is no page. */
  readonly page: Page | undefined;
}

export interface Subject {
  readonly config: Config;
  /** Of the version that answers, which may be another one than configured. */
  readonly catalogue: Catalogue;
  readonly api: Api;
  /** The platform's own v1, where it is configured. */
  readonly native: Api | undefined;
  readonly lists: readonly ReadList[];
  /** Lower-case hexadecimal digits. */
  readonly hex: (digits: number) => string;
}

/** One question to the platform, and how the answer is judged. Only reads. */
export interface Probe {
  readonly id: string;
  /** What it asks, for the documentation. */
  readonly asks: string;
  /** Throws what `Api` throws. */
  run(subject: Subject): Promise<readonly Finding[]>;
}

/** The lists of a catalogue, in the order that is asked for (`lists.orderBy`). */
export function listsOf({ resources, version }: Catalogue, orderBy: string | undefined): readonly List[] {
  const params = orderBy === undefined ? [] : [orderParam(orderBy)];
  return resources.flatMap((resource) => {
    const operation = resource.operations.find((one) => one.kind === "list");
    return operation === undefined ? [] : [{ resource, operation, path: collectionPath(resource, version), params }];
  });
}

/** The parameter that asks for an order. */
export function orderParam(orderBy: string): string {
  return `order_by=${encodeURIComponent(orderBy)}`;
}

/** Asks for the first page of every list, one after another: a check must not be a burst. */
export async function readLists(
  api: Api,
  catalogue: Catalogue,
  orderBy: string | undefined,
): Promise<readonly ReadList[]> {
  const all: ReadList[] = [];
  for (const list of listsOf(catalogue, orderBy)) {
    const answer = await api.get(pageTarget(list.path, list.params, { size: PAGE_SIZE })).catch(asProblem);
    all.push({ ...list, answer, page: answer instanceof Problem ? undefined : pageOf(answer, list.resource) });
  }
  return all;
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

/** A further page of `list`; undefined when the platform refuses it. */
export async function readPage(
  api: Api,
  list: List,
  page: { readonly size: number; readonly token?: string; readonly skip?: number },
  params: readonly string[] = [],
): Promise<Page | undefined> {
  return pageOf(await api.get(pageTarget(list.path, [...params, ...list.params], page)), list.resource);
}

function pageOf({ status, json }: Answer, { items }: Resource): Page | undefined {
  if (status !== 200 || !isJsonObject(json)) return undefined;
  // A platform that leaves zeros out leaves an empty list out as well.
  const given = member(json, items) ?? [];
  if (!Array.isArray(given)) return undefined;
  const records = given.filter(isJsonObject);
  const { [items]: _records, ...envelope } = json;
  return {
    records,
    uids: records.map((record) => String(member(record, "uid") ?? "")),
    envelope,
    nextPageToken: String(member(json, "nextPageToken") ?? ""),
    totalCount: wholeNumber(member(json, "totalCount")),
    skipped: wholeNumber(member(json, "skipped")),
  };
}

function wholeNumber(value: unknown): number | undefined {
  return (typeof value === "number" || typeof value === "string") && /^\d{1,15}$/.test(String(value))
    ? Number(value)
    : undefined;
}

/** The lists that were answered with a page, longest first. */
export function byLength(subject: Subject): readonly (ReadList & { readonly page: Page })[] {
  const length = ({ totalCount, records }: Page) => Math.max(totalCount ?? 0, records.length);
  return subject.lists
    .flatMap((list) => (list.page === undefined ? [] : [{ ...list, page: list.page }]))
    .sort((a, b) => length(b.page) - length(a.page));
}
