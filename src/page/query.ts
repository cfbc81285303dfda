/** What a reader asked the page to show: filters and pages, all in the address, so that they can be sent to someone else. */

export const CLIENT_SORTS = ["requests", "last", "errors", "difficulty", "name"] as const;
export type ClientSort = (typeof CLIENT_SORTS)[number];
export const CLIENT_STATES = ["all", "left", "moved"] as const;
export type ClientState = (typeof CLIENT_STATES)[number];

export interface PageQuery {
  readonly span: "hours" | "days";
  readonly search: string;
  readonly resource: string;
  readonly sort: ClientSort;
  readonly state: ClientState;
  /** From 1. */
  readonly clientsPage: number;
  readonly rulesPage: number;
  readonly refusedPage: number;
  /** Kind of event; empty: all. */
  readonly kind: string;
  readonly eventsPage: number;
}

const LONGEST = 128;

/** Anything that cannot be meant counts as left out. */
export function readQuery(query: URLSearchParams): PageQuery {
  const text = (name: string): string => (query.get(name) ?? "").trim().slice(0, LONGEST);
  const page = (name: string): number => (/^[1-9]\d{0,4}$/.test(text(name)) ? Number(text(name)) : 1);
  const one = <Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word =>
    words.find((word) => word === text(name)) ?? words[0];
  return {
    span: one("span", ["hours", "days"]),
    search: text("q"),
    resource: text("resource"),
    sort: one("sort", CLIENT_SORTS),
    state: one("state", CLIENT_STATES),
    clientsPage: page("clients"),
    rulesPage: page("rules"),
    refusedPage: page("refused"),
    kind: text("kind"),
    eventsPage: page("events"),
  };
}

/** The same as parameters; what is usual is left out. */
export function queryParameters(query: PageQuery): Readonly<Record<string, string | number | undefined>> {
  const { span, search, resource, sort, state, clientsPage, rulesPage, refusedPage, kind, eventsPage } = query;
  const unless = <T>(value: T, usual: T): T | undefined => (value === usual ? undefined : value);
  return {
    span: unless(span, "hours"),
    q: search,
    resource,
    sort: unless(sort, "requests"),
    state: unless(state, "all"),
    clients: unless(clientsPage, 1),
    rules: unless(rulesPage, 1),
    refused: unless(refusedPage, 1),
    kind,
    events: unless(eventsPage, 1),
  };
}
