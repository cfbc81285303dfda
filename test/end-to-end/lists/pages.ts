/** Pages: which records they hold, what comes after them, and how they look on the wire. */
import { cutPage, type Paging } from "../../support/platform-pages.ts";
import type { Row, Shelf } from "./shelf.ts";

/** One request for a page. */
export interface Ask {
  readonly collection: string;
  readonly size: number;
  readonly token: string | undefined;
  readonly skip: number;
  /** Name of the credential. */
  readonly who: string;
}

/** A page before it is bytes. */
export interface Page {
  readonly rows: readonly Row[];
  /** Rank of its first record when it was cut. */
  readonly start: number;
  /** Members beside the records, as they are written; undefined: left out. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** The page that `ask` selects. */
export function cut(shelf: Shelf, ask: Ask, paging: Paging): Page {
  const { items: rows, start, next: nextPageToken, total, skipped } = cutPage(shelf, ask, paging);
  return { rows, start, members: { nextPageToken, totalCount: String(total), skipped } };
}

const TIMES = `"createTime":"2026-01-02T03:04:05.678Z","updateTime":"2026-01-02T03:04:05.678Z"}`;
const REST = `"resourceLimits":{"clusters":3,"id":1},"verified":true,"kind":"ORG_KIND_CUSTOMER","status":"ORG_STATUS_READY"`;
const INVITE = `"keyId":"k","email":"a@example.com","singleUse":true,"expirationTime":"2026-01-02T03:04:05.678Z"`;

/** One record as v2 shows it to `who`: whose it is stands in its name. */
export function recordOf(row: Row, who: string, collection: string): string {
  if (collection === "groupInvites") return `{"uid":"${row.uid}",${INVITE},"roleUid":"${who}",${TIMES}`;
  return `{"uid":"${row.uid}","name":"${who} ${row.name}","description":"",${REST},${TIMES}`;
}

/** A page as it goes out. */
export function write(page: Page, ask: Ask): string {
  const items = page.rows.map((row) => recordOf(row, ask.who, ask.collection)).join(",");
  const members = Object.entries(page.members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{"${ask.collection}":[${items}]${members.join("")}}`;
}
