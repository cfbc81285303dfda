/** Brownouts: where each is, its windows, whom they refused, and who came back. */
import {
  BROWNOUT_OUTCOMES,
  type BrownoutLine,
  type BrownoutOutcome,
  brownoutLines,
  outcomeText,
} from "../fleet/brownouts.ts";
import type { FleetRule } from "../fleet/fleet.ts";
import { windowWords } from "../rules/schedule.ts";
import type { BrownoutStatus } from "../rules/status.ts";
import { clientLink } from "./clients.ts";
import type { PageData } from "./data.ts";
import { capital } from "./headline.ts";
import { type Html, html } from "./html.ts";
import { badge, figure, figures, nothing, pageOf, pager, type Section, type Tone } from "./parts.ts";
import type { PageQuery } from "./query.ts";
import { ago, count, fineShare, time } from "./words.ts";

const LINES_ON_PAGE = 25;
const MINUTE = 60_000;

export function brownouts(data: PageData, query: PageQuery): Section {
  const found = data.rules.flatMap(({ brownout, ...rule }) => (brownout === undefined ? [] : [{ ...rule, brownout }]));
  const lines = brownoutLines({ clients: data.ledger.clients, rules: data.rules, at: data.at });
  return {
    id: "brownouts",
    title: "Brownouts",
    aside: found.length === 0 ? "" : html`${count(found.length)} ${found.length === 1 ? "rule" : "rules"}`,
    body:
      found.length === 0 && lines.length === 0
        ? nothing(html`No rule has <code>mode: brownout</code>.`)
        : html`<ul class="rules">${found.map((rule) => brownoutItem(rule, data.at))}</ul>
${lines.length === 0 ? (found.length === 0 ? "" : nothing("No client was refused yet.")) : refusedClients(lines, query, data.at)}`,
  };
}

const PHASE_TONES: Readonly<Record<BrownoutStatus["phase"], Tone>> = {
  waiting: "plain",
  running: "bad",
  held: "warn",
  stopped: "warn",
};

type BrownoutRule = FleetRule & { readonly brownout: BrownoutStatus };

function brownoutItem({ name, state, brownout }: BrownoutRule, at: number): Html {
  const { phase, window, why, counts, next, zone } = brownout;
  const isExpired = state === "expired";
  return html`<li class="rule"><div class="rule-head"><h3>${name}</h3>${isExpired ? badge("expired") : badge(phase, PHASE_TONES[phase])}</div>
${why === undefined ? "" : html`<p class="cause">Why it refuses nothing: ${why}</p>`}
${
  window === undefined
    ? ""
    : figures([
        figure("Window now", windowWords(window, zone), endWords(window.end, at)),
        ...(counts === undefined
          ? []
          : [
              figure(
                "v1 requests refused in it",
                count(counts.refused),
                counts.requests === 0
                  ? undefined
                  : `${fineShare(counts.refused / counts.requests)} of ${count(counts.requests)}`,
              ),
            ]),
      ])
}
${
  isExpired || next.length === 0
    ? html`<p class="note">No window is to come.</p>`
    : html`<div class="lacks"><h4>Next windows</h4><ul>${next.map((one) => html`<li>${windowWords(one, zone)}</li>`)}</ul></div>`
}</li>`;
}

function endWords(end: number, at: number): string {
  const minutes = Math.ceil((end - at) / MINUTE);
  return minutes <= 0 ? "is over" : `ends in ${minutes} min`;
}

const OUTCOME_TONES: Readonly<Record<BrownoutOutcome, Tone>> = {
  running: "plain",
  unchanged: "bad",
  both: "warn",
  silent: "warn",
  moved: "good",
};

/** Each client by the last brownout that refused it. */
function refusedClients(lines: readonly BrownoutLine[], query: PageQuery, at: number): Html {
  const shown = pageOf(lines, query.refusedPage, LINES_ON_PAGE);
  const amounts = BROWNOUT_OUTCOMES.flatMap((outcome) => {
    const clients = lines.filter((line) => line.outcome === outcome).length;
    return clients === 0 ? [] : [figure(capital(outcomeText({ outcome })), count(clients))];
  });
  return html`<h3>Clients that were refused, each by its last brownout</h3>
${figures(amounts)}
<table class="clients"><thead><tr><th scope="col">Client</th><th scope="col">Owner</th><th scope="col">Brownout</th><th scope="col" class="number">Refused</th><th scope="col">Since then</th></tr></thead>
<tbody>${shown.items.map((line) => lineRow(line, at))}</tbody></table>
${pager(shown, query, { name: "refused", place: "brownouts", what: "refused clients" })}`;
}

function lineRow(
  { client, owner, contact, rule, from, refused, outcome, lastV1, lastV2 }: BrownoutLine,
  at: number,
): Html {
  const last = (what: string, call: string | null) =>
    call === null ? "" : html` <small>${what} ${time(Date.parse(call), ago(Date.parse(call), at))}</small>`;
  return html`<tr><th scope="row"><a href="${clientLink(client)}">${client}</a></th>
<td data-label="Owner">${owner ?? html`<span class="quiet">not known</span>`}${contact === null ? "" : html` <small>${contact}</small>`}</td>
<td data-label="Brownout">${rule} <small>${time(Date.parse(from))}</small></td>
<td data-label="Refused" class="number">${count(refused)}</td>
<td data-label="Since then">${badge(outcomeText({ outcome }), OUTCOME_TONES[outcome])}${last("v1", lastV1)}${last("v2", lastV2)}</td></tr>`;
}
