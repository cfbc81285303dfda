/** Who is left on v1, who answers for it, and how hard it is to move. */

import { calledV1, isUnseenOnV2 } from "../fleet/next-client.ts";
import { DAY_MS } from "../ledger/days.ts";
import { difficultyOf, difficultyWords } from "../ledger/difficulty.ts";
import { addErrors, type ClientEntry, countErrors, DIFFICULTIES, type Difficulty } from "../ledger/entry.ts";
import { FAULT_ORIGINS, type FaultOrigin } from "../model/problem.ts";
import type { PageData } from "./data.ts";
import { type Html, html, link } from "./html.ts";
import { badge, nothing, pageOf, pager, type Section, type Tone } from "./parts.ts";
import { CLIENT_SORTS, CLIENT_STATES, type ClientSort, type ClientState, type PageQuery } from "./query.ts";
import { ago, count, minute, time } from "./words.ts";

const CLIENTS_ON_PAGE = 25;
const MOST_OPERATIONS = 3;

export function clients(data: PageData, query: PageQuery): Section {
  const { ledger, at } = data;
  const found = sorted(selected(ledger.clients, query, at), query.sort);
  const shown = pageOf(found, query.clientsPage, CLIENTS_ON_PAGE);
  const isNarrowed = found.length < ledger.clients.length;
  return {
    id: "clients",
    title: "Clients",
    aside: html`${isNarrowed ? `${count(found.length)} of ` : ""}${count(ledger.clients.length)} ${ledger.clients.length === 1 ? "client" : "clients"}, counted since ${time(ledger.since)}`,
    body:
      ledger.clients.length === 0
        ? nothing("No client has called yet. Clients appear with their first request that the platform lets in.")
        : html`${filterForm(ledger.clients, query)}
${shown.items.length === 0 ? nothing("No client matches. Clear the filter to see all.") : clientsTable(shown.items, at)}
${pager(shown, query, { name: "clients", place: "clients", what: "clients" })}
${ledger.bound === 0 ? "" : html`<p class="note">A client that is not listed made at most ${count(ledger.bound)} v1 requests.</p>`}`,
  };
}

function selected(all: readonly ClientEntry[], { search, resource, state }: PageQuery, at: number) {
  const wanted = search.toLowerCase();
  return all.filter(
    (entry) =>
      (wanted === "" ||
        [entry.name, entry.owner, entry.contact].some((text) => text?.toLowerCase().includes(wanted) === true)) &&
      (resource === "" || entry.operations.some((one) => one.resource === resource)) &&
      (state === "all" || (state === "left") === calledV1(entry, at - DAY_MS)),
  );
}

type Order = (a: ClientEntry, b: ClientEntry) => number;

const ORDERS: Readonly<Record<ClientSort, Order>> = {
  requests: (a, b) => b.requests.v1 - a.requests.v1 || b.requests.v2 - a.requests.v2,
  last: (a, b) => (b.lastV1 ?? 0) - (a.lastV1 ?? 0),
  errors: (a, b) => countErrors(errorsOf(b)) - countErrors(errorsOf(a)),
  difficulty: (a, b) => DIFFICULTIES.indexOf(difficultyOf(b)) - DIFFICULTIES.indexOf(difficultyOf(a)),
  name: (a, b) => (a.name < b.name ? -1 : 1),
};

function sorted(all: readonly ClientEntry[], sort: ClientSort): readonly ClientEntry[] {
  return all.toSorted(ORDERS[sort]);
}

const SORT_WORDS: Readonly<Record<ClientSort, string>> = {
  requests: "most v1 requests",
  last: "latest v1 call",
  errors: "most errors",
  difficulty: "hardest to move",
  name: "name",
};
const STATE_WORDS: Readonly<Record<ClientState, string>> = {
  all: "all",
  left: "called v1 in the last 24 h",
  moved: "did not",
};

function filterForm(all: readonly ClientEntry[], query: PageQuery): Html {
  const resources = [...new Set(all.flatMap(({ operations }) => operations.map(({ resource }) => resource)))].sort();
  const option = (value: string, text: string, is: boolean) =>
    html`<option value="${value}" ${is ? html`selected` : ""}>${text}</option>`;
  return html`<form class="filter" method="get" action="/#clients">
${query.span === "days" ? html`<input type="hidden" name="span" value="days">` : ""}
<label>Name or owner <input type="search" name="q" value="${query.search}" maxlength="128"></label>
<label>Resource <select name="resource">${option("", "all", query.resource === "")}${resources.slice(0, 200).map((one) => option(one, one, one === query.resource))}</select></label>
<label>State <select name="state">${CLIENT_STATES.map((one) => option(one, STATE_WORDS[one], one === query.state))}</select></label>
<label>Order <select name="sort">${CLIENT_SORTS.map((one) => option(one, SORT_WORDS[one], one === query.sort))}</select></label>
<button type="submit">Show</button></form>`;
}

const DIFFICULTY_WORDS: Readonly<Record<Difficulty, readonly [words: string, tone: Tone]>> = {
  none: ["nothing to do", "good"],
  renames: ["renames", "good"],
  "unknown-fields": ["unknown fields", "warn"],
  "long-lists": ["long lists", "warn"],
  unknown: ["not known yet", "plain"],
  "full-replace": ["full replace", "warn"],
  lacking: ["v2 lacks it", "bad"],
};

export function difficultyBadge(entry: ClientEntry): Html {
  const [words, tone] = DIFFICULTY_WORDS[difficultyOf(entry)];
  return badge(words, tone);
}

export function stateBadge(entry: ClientEntry, at: number): Html {
  if (calledV1(entry, at - DAY_MS)) return badge("on v1", "native");
  return isUnseenOnV2(entry) ? badge("silent", "plain") : badge("moved", "good");
}

function clientsTable(all: readonly ClientEntry[], at: number): Html {
  const hasBuckets = all.some(({ bucket }) => bucket !== undefined);
  return html`<table class="clients"><thead><tr><th scope="col">Client</th><th scope="col">Owner</th><th scope="col" class="number">v1 requests</th><th scope="col">Last v1 call</th><th scope="col">v1 operations</th><th scope="col">Errors by fault</th><th scope="col">To move</th>${hasBuckets ? html`<th scope="col" class="number">Bucket</th>` : ""}</tr></thead>
<tbody>${all.map(
    (
      entry,
    ) => html`<tr><th scope="row"><a href="${clientLink(entry.name)}">${entry.name}</a> ${stateBadge(entry, at)}</th>
<td data-label="Owner">${ownerCell(entry)}</td>
<td data-label="v1 requests" class="number">${count(entry.requests.v1)}</td>
<td data-label="Last v1 call">${entry.lastV1 === undefined ? "never" : html`<span title="${minute(entry.lastV1)}">${time(entry.lastV1, ago(entry.lastV1, at))}</span>`}</td>
<td data-label="v1 operations">${operationsCell(entry)}</td>
<td data-label="Errors by fault">${errorWords(entry)}</td>
<td data-label="To move"><span title="${difficultyWords(entry)}">${difficultyBadge(entry)}</span></td>
${hasBuckets ? html`<td data-label="Bucket" class="number">${entry.bucket === undefined ? "–" : (Math.floor(entry.bucket * 10) / 10).toFixed(1)}</td>` : ""}</tr>`,
  )}</tbody></table>`;
}

export function clientLink(name: string): string {
  return link("/page/client", { client: name });
}

/** A contact is shown as text: it may be a channel, a mailbox or a person. */
function ownerCell({ owner, contact }: ClientEntry): Html | string {
  if (owner === undefined && contact === undefined) return html`<span class="quiet">not known</span>`;
  return html`${owner ?? ""}${contact === undefined ? "" : html` <small>${contact}</small>`}`;
}

function operationsCell({ operations }: ClientEntry): Html {
  const more = operations.length - MOST_OPERATIONS;
  return html`${operations.slice(0, MOST_OPERATIONS).map(({ resource, operation, requests }) => html`<span class="op">${resource === operation ? resource : `${resource} ${operation}`} <small>${count(requests)}</small></span> `)}${more > 0 ? html`<small>and ${more} more</small>` : ""}`;
}

function errorsOf({ operations }: ClientEntry) {
  return addErrors(operations.map(({ errors }) => errors));
}

const CAUSED: Readonly<Record<FaultOrigin, string>> = {
  client: "by the client",
  platform: "by the platform",
  capacity: "for lack of capacity",
  translation: "by the translation",
  v2: "by v2",
};

export function errorWords(entry: ClientEntry): string {
  const errors = errorsOf(entry);
  if (errors === undefined) return "none";
  return FAULT_ORIGINS.flatMap((fault) =>
    errors[fault] === undefined ? [] : [`${count(errors[fault])} ${CAUSED[fault]}`],
  ).join(", ");
}
