/** The rules in their order: what each does and why, its evidence, its guard, and its last events. */
import type { FleetRule } from "../fleet/fleet.ts";
import type { RuleLineStatus } from "../fleet/status.ts";
import { counted, percent } from "../rules/words.ts";
import type { PageData, PageEvent } from "./data.ts";
import { guardOf } from "./guard.ts";
import { capital } from "./headline.ts";
import { type Html, html } from "./html.ts";
import { badge, figure, figures, nothing, pageOf, pager, type Section, type Tone } from "./parts.ts";
import { bar } from "./plot.ts";
import type { PageQuery } from "./query.ts";
import { count, fineShare, time } from "./words.ts";

const RULES_ON_PAGE = 25;
const MOST_EVENTS = 3;
const MOST_LACKS = 4;

export function rules(data: PageData, query: PageQuery): Section {
  const { status } = data;
  const shown = pageOf(status.rules, query.rulesPage, RULES_ON_PAGE);
  const mode = status.instances[0]?.mode ?? "translate";
  return {
    id: "rules",
    title: "Rules",
    aside: html`requests that no rule takes: ${badge(mode, mode)}`,
    body:
      status.rules.length === 0
        ? nothing(html`There are no rules: every v1 request is handled as <code>cutover.mode</code> says.`)
        : html`<ol class="rules" start="${shown.first + 1}">${shown.items.map((line, at) => ruleItem(data, line, shown.first + at))}</ol>
${pager(shown, query, { name: "rules", place: "rules", what: "rules" })}`,
  };
}

const STATE_TONES: Readonly<Record<RuleLineStatus["state"], Tone>> = {
  "as-written": "plain",
  "stepped-back": "bad",
  returning: "warn",
  promoted: "good",
  expired: "plain",
  unknown: "bad",
};

const DOING_TONES: Readonly<Record<RuleLineStatus["doing"], Tone>> = {
  native: "native",
  shadow: "shadow",
  translate: "translate",
  brownout: "bad",
  nothing: "plain",
};

function ruleItem(data: PageData, line: RuleLineStatus, at: number): Html {
  const { name, doing, state, whom, says, missing, mayGoFurther, windows } = line;
  // Both lists are of the same rules in the same order.
  const rule = data.rules[at];
  const isQuiet = state === "as-written";
  return html`<li class="rule"><div class="rule-head"><span class="order" aria-hidden="true">${at + 1}</span><h3>${name}</h3>${badge(doing, DOING_TONES[doing])}
${isQuiet ? "" : badge(state.replace("-", " "), STATE_TONES[state])}${mayGoFurther ? badge("may go further", "good") : ""}</div>
<p class="whom">Takes ${whom}. ${capital(says)}.</p>
${windows.length === 0 ? "" : html`<p class="note"><a href="#brownouts">Its windows</a></p>`}
${rule === undefined ? "" : [takenFigures(rule, data), evidenceBar(rule), guardOf(rule, data, at)]}
${
  missing.length === 0
    ? ""
    : html`<div class="lacks"><h4>Before it may go further</h4><ul>${missing.slice(0, MOST_LACKS).map((text) => html`<li>${capital(text)}</li>`)}</ul>${missing.length > MOST_LACKS ? html`<p class="note">And ${missing.length - MOST_LACKS} more reasons.</p>` : ""}</div>`
}
${rule?.cause === undefined ? "" : html`<p class="cause">Why: ${rule.cause}</p>`}
${lastEvents(data.events, name)}</li>`;
}

/** True where responses of both versions are compared. */
function isCompared(mode: FleetRule["mode"]): boolean {
  return mode === "shadow" || mode === "translate";
}

function takenFigures({ name, mode, evidence, since }: FleetRule, { takers }: PageData): Html | "" {
  if (evidence === undefined) return "";
  const { requests, failures, comparisons, differences, clients, clientsNeeded, stepBacks } = evidence;
  const taken = takers.get(name);
  return figures([
    ...(!isCompared(mode)
      ? []
      : [
          figure("Translated requests", count(requests), failures === 0 ? "none failed" : `${count(failures)} failed`),
          figure("Comparisons", count(comparisons), `${count(differences)} differed`),
          figure("Clients compared", count(clients), clientsNeeded > 0 ? `${clientsNeeded} needed` : undefined),
        ]),
    // Between its windows a brownout takes no client.
    ...(taken === undefined || mode === "brownout"
      ? []
      : [figure("Clients it takes", count(taken), "of those that call v1")]),
    figure("Unchanged since", time(since), stepBacks === 0 ? undefined : counted(stepBacks, "rollback")),
  ]);
}

/** Of a rule in shadow: how near the bound is to the threshold, as the gate judges it. */
function evidenceBar({ mode, state, evidence }: FleetRule): Html | "" {
  if (evidence === undefined || !isCompared(mode) || state === "expired") return "";
  const below = evidence.differencesBelow ?? 0.02;
  if (evidence.comparisons === 0)
    return html`<div class="evidence"><p>No comparison yet: the share of differing responses must be shown to be below ${percent(below)}.</p>${bar(0)}</div>`;
  const found = evidence.bound;
  const isEnough = found < below;
  const text = `At most ${fineShare(found)} of responses differ (95 %); ${isEnough ? "below" : "must be below"} ${percent(below)}`;
  const isTrouble = evidence.differences / evidence.comparisons >= below;
  return html`<div class="evidence"><p>${text}</p>${bar(below / found, isEnough ? "good" : isTrouble ? "bad" : "plain")}</div>`;
}

function lastEvents(events: readonly PageEvent[], name: string): Html | "" {
  const own = events
    .filter(({ rule }) => rule === name)
    .slice(-MOST_EVENTS)
    .reverse();
  if (own.length === 0) return "";
  return html`<div class="last"><h4>Last events</h4><ul>${own.map(({ at, kind, reason }) => html`<li>${time(at)} <strong>${kind.replaceAll("-", " ")}</strong> ${reason}</li>`)}</ul></div>`;
}
