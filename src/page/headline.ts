/** Where the migration stands, what to do next, and what needs attention. */

import { changeLines } from "../fleet/change.ts";
import { sumOfSeries, translatedShareOf } from "../history/series.ts";
import { DAY_MS } from "../ledger/days.ts";
import { grouped } from "../model/group.ts";
import { counted } from "../rules/words.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";
import type { PageData } from "./data.ts";
import { type Html, html, lines, link } from "./html.ts";
import { badge, type Section } from "./parts.ts";
import { bar, sparkline } from "./plot.ts";
import { count, share } from "./words.ts";

const MOST_TROUBLES = 12;

export function headline(data: PageData): Section {
  const { status } = data;
  return {
    id: "headline",
    title: "Where the migration stands",
    body: html`<div class="cards">${shareCard(data)}${clientsCard(data)}${requestsCard(data)}</div>
<div class="pair">${nextCard(data)}${attentionCard(status.attention, status.ahead)}</div>`,
  };
}

function shareCard({ status, days, hours, at }: PageData): Html {
  const { standing, window } = status;
  const now = standing?.translatedShare ?? undefined;
  // Both from the same buckets, so that they can be compared.
  const [today, before] = [at - DAY_MS, at - 2 * DAY_MS].map((from) =>
    translatedShareOf(sumOfSeries(hours, from, from + DAY_MS)),
  );
  const daily = days.points.slice(-14).map(({ counts }) => translatedShareOf(counts));
  const figure = now === undefined ? "–" : share(now);
  const says =
    now === undefined
      ? html`No v1 request was served ${window.says ?? "yet"}`
      : html`of v1 requests translated to v2 ${unbroken(window.says)}${window.limits === null ? "" : html` (${window.limits})`}`;
  return html`<div class="card card-share"><p class="big">${figure}</p><p>${says}</p>
<p class="trend">${window.limits === null ? trend(today, before) : ""}</p>
${daily.some((one) => one !== undefined) ? sparkline(daily, `Share translated per day over 14 days, now ${figure}`) : ""}</div>`;
}

function trend(now: number | undefined, before: number | undefined): Html | string {
  if (now === undefined) return "";
  if (before === undefined) return "nothing to compare with from the day before";
  const points = Math.round((now - before) * 100);
  if (points === 0) return "as the day before";
  return html`<span class="${points > 0 ? "up" : "down"}">${points > 0 ? "▲" : "▼"} ${counted(Math.abs(points), "point")}</span> against the day before`;
}

function clientsCard({ status }: PageData): Html {
  const { standing } = status;
  if (standing === null || standing.clients === 0)
    return html`<div class="card"><p class="big">–</p><p>No client has called yet</p></div>`;
  const { moved, clients, silent } = standing;
  const left = clients - moved - silent.length;
  return html`<div class="card"><p class="big">${count(moved)}<small> of ${count(clients)}</small></p>
<p>${clients === 1 ? "client" : "clients"} moved: no v1 call ${unbroken(status.window.says)}, but calls to v2</p>
${bar(moved / clients, "good")}
<p class="trend"><a href="${link("/", { state: "left" }, "clients")}">${counted(left, "client")} still on v1</a>${silent.length === 0 ? "" : `, ${silent.length} silent`}</p></div>`;
}

/** Of the same time as the share. */
function requestsCard({ rows, status: { window } }: PageData): Html {
  if (rows === undefined)
    return html`<div class="card"><p class="big">–</p><p>Nothing was counted ${window.says ?? "yet"}</p></div>`;
  const sum = (isOf: (row: RequestTotalsRow) => boolean) =>
    rows.reduce((all, row) => all + (isOf(row) ? row.requests : 0), 0);
  const [translated, native] = [
    sum(({ apiVersion, mode }) => apiVersion === "v1" && mode === "translate"),
    sum(({ apiVersion, mode }) => apiVersion === "v1" && (mode === "native" || mode === "shadow")),
  ];
  const direct = sum(({ apiVersion }) => apiVersion === "v2");
  return html`<div class="card"><p class="big">${count(translated + native)}</p><p>v1 requests served ${unbroken(window.says)}</p>
<p class="trend">${count(native)} by native v1, ${count(translated)} translated · ${counted(direct, "call")} to v2 directly</p></div>`;
}

function nextCard({ status, force }: PageData): Html {
  const { next, change } = status;
  return html`<div class="card card-next"><h3>Next</h3><p class="next">${withLink(capital(next))}.</p>
${pastesOf(changeLines(change)).map(
  ({ where, what }, at) =>
    html`<div class="paste-block"><p class="where" id="paste-${at}">${capital(where)}:</p><pre class="paste" tabindex="0" role="region" aria-labelledby="paste-${at}"><code>${lines(what)}</code></pre><p class="copy" data-copy hidden><button type="button">Copy</button></p></div>`,
)}
${force === "none" ? "" : html`<p>${badge(`forced to ${force}`, "bad")} No rule decides until this is lifted.</p>`}</div>`;
}

/** What to write, by the place where it belongs. */
function pastesOf(change: readonly string[]): readonly { readonly where: string; readonly what: readonly string[] }[] {
  const [first = "", ...rest] = change;
  // One place for all that follows.
  if (first.endsWith(":")) return [{ where: first.slice(0, -1), what: rest.map((line) => line.replace(/^ {2}/, "")) }];
  const placed = change.map((line) => {
    const end = line.indexOf(": ");
    return { where: line.slice(0, end), what: line.slice(end + 2) };
  });
  return grouped(placed, ({ where }) => [where]).map((group) => ({
    where: group[0].where,
    what: group.map(({ what }) => what),
  }));
}

function attentionCard(attention: readonly string[], ahead: readonly string[]): Html {
  const more = attention.length - MOST_TROUBLES;
  return html`<div class="card card-attention ${attention.length === 0 ? "is-calm" : ""}"><h3>Needs attention</h3>
${
  attention.length === 0
    ? html`<p class="calm">Nothing needs attention.</p>`
    : html`<ol class="troubles">${attention.slice(0, MOST_TROUBLES).map((text) => html`<li>${withLink(capital(text))}</li>`)}</ol>`
}
${more > 0 ? html`<p class="note">And ${more} more: <code>carryover status --json</code> lists them.</p>` : ""}
${ahead.length === 0 ? "" : html`<h4>Takes long: begin early</h4><ul class="ahead">${ahead.slice(0, 5).map((text) => html`<li>${capital(text)}</li>`)}</ul>`}</div>`;
}

export function capital(text: string): string {
  return /^[a-z][a-z]* /.test(text) && !text.includes("://", 0) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** Where samples are meant, a link to them. */
function withLink(text: string): Html {
  const [before = "", ...rest] = text.split("(/samples)");
  return html`${before}${rest.map((after) => html`(<a href="#differences">samples</a>)${after}`)}`;
}

/** A number stays with its unit. */
function unbroken(says: string | null): string {
  return says?.replace(/(\d) /g, "$1\u00a0") ?? "";
}
