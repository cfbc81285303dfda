/** One client: what it calls, when, and its way out of v1. */

import { ownerText } from "../ledger/clients-view.ts";
import { DAY_MS, daysView } from "../ledger/days.ts";
import { difficultyWords } from "../ledger/difficulty.ts";
import type { ClientEntry } from "../ledger/entry.ts";
import { grouped } from "../model/group.ts";
import { counted } from "../rules/words.ts";
import { difficultyBadge, errorWords, stateBadge } from "./clients.ts";
import type { PageSample } from "./data.ts";
import { type Document, smallPage } from "./document.ts";
import { type Html, html } from "./html.ts";
import { markdown } from "./markdown.ts";
import { figure, figures, scrolling } from "./parts.ts";
import { columns } from "./plot.ts";
import { count, time } from "./words.ts";

/** Of 14 days and today. */
const DAYS = 15;
const MOST_KINDS = 12;

export interface ClientView {
  readonly entry: ClientEntry;
  /** Its way out of v1, in Markdown. */
  readonly wayOut: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Of all clients. */
  readonly samples: readonly PageSample[];
}

export function clientPage({ entry, wayOut, at, samples }: ClientView, look: Document["assets"]): string {
  const byDate = new Map(daysView(entry.days).counts.map((one) => [one.date, one]));
  const dates = Array.from({ length: DAYS }, (_, back) =>
    new Date(at - (DAYS - 1 - back) * DAY_MS).toISOString().slice(0, 10),
  );
  const of = (version: "v1" | "v2") => dates.map((date) => byDate.get(date)?.[version] ?? 0);
  const owner = ownerText(entry);
  const body = html`<section class="panel" aria-labelledby="client-title"><div class="panel-head"><h2 id="client-title">${entry.name}</h2>${stateBadge(entry, at)}${difficultyBadge(entry)}</div>
${figures([
  figure("Owner", owner === "" ? "not known" : owner),
  figure("v1 requests", count(entry.requests.v1), `${count(entry.requests.v2)} to v2`),
  figure("Last v1 call", time(entry.lastV1)),
  figure("First seen", time(entry.firstSeen)),
  figure("Errors by fault", errorWords(entry)),
])}
<p class="note">How hard it is to move: ${difficultyWords(entry)}</p>
${differencesOf(samples.filter(({ client }) => client === entry.name))}
<h3>v1 requests per day, ${dates[0]} to today</h3>${columns(of("v1"), `v1 requests per day: ${of("v1").join(", ")}`)}
<h3>v2 requests per day</h3>${columns(of("v2"), `v2 requests per day: ${of("v2").join(", ")}`, "v2")}
<details id="days"><summary>The same as a table</summary>${scrolling("Requests per day", html`<table><thead><tr><th scope="col">Day (UTC)</th><th scope="col" class="number">v1</th><th scope="col" class="number">v2</th></tr></thead><tbody>${dates.toReversed().map((date) => html`<tr><th scope="row">${date}</th><td class="number">${count(byDate.get(date)?.v1 ?? 0)}</td><td class="number">${count(byDate.get(date)?.v2 ?? 0)}</td></tr>`)}</tbody></table>`)}</details></section>
<section class="panel markdown" aria-label="Way out of v1">${markdown(wayOut)}</section>
<p class="note">As a file to send: <a href="/way-out.md?${new URLSearchParams({ client: entry.name }).toString()}">way-out.md</a></p>`;
  return smallPage(look, entry.name, body);
}

/** What differed where its requests were compared. */
function differencesOf(samples: readonly PageSample[]): Html | "" {
  if (samples.length === 0) return "";
  const all = samples.flatMap(({ resource, operation, differences }) =>
    [...new Set(differences.map(({ path }) => path))].map((path) => ({ resource, operation, path })),
  );
  const kinds = grouped(all, ({ resource, operation, path }) => [resource, operation, path]);
  return html`<h3>Responses that differ when translated</h3><ul>${kinds
    .slice(0, MOST_KINDS)
    .map(
      (kind) =>
        html`<li>${kind[0].resource} ${kind[0].operation}: <code>${kind[0].path === "" ? "(all)" : kind[0].path}</code>, in ${counted(kind.length, "sample")}</li>`,
    )}</ul><p class="note">Both values are in <a href="/#differences">Differences</a>. In shadow, the client gets native v1's response.</p>`;
}
