/** What the guard of a rule counted: translated requests and those of native v1 side by side, and what it needs before it judges. */
import type { FleetRule } from "../fleet/fleet.ts";
import { GUARD_NEEDS } from "../rollout/text.ts";
import type { RuleGuard } from "../rules/status.ts";
import { counted } from "../rules/words.ts";
import type { PageData } from "./data.ts";
import { capital } from "./headline.ts";
import { type Html, html } from "./html.ts";
import { scrolling } from "./parts.ts";
import { bar } from "./plot.ts";
import { count, fineShare, seconds, share } from "./words.ts";

type Figures = NonNullable<RuleGuard["figures"]>;
type Side = "native" | "translated";

/** Nothing for a rule that translates nothing. `at`: its place in the file. */
export function guardOf(rule: FleetRule, data: PageData, at: number): Html | "" {
  const { guard, doing } = rule;
  if (guard === undefined || (doing !== "translate" && guard.figures === undefined && guard.trouble === undefined)) {
    return "";
  }
  const says = guard.trouble?.says ?? (guard.slow === undefined ? [] : [guard.slow.says]);
  return html`<details class="guard" ${says.length > 0 ? html`open` : ""} id="guard-${at}"><summary>The guard: translated and native side by side</summary>
${guard.action === "off" ? html`<p>The guard of this rule is off (<code>guard.action: off</code>): failures of v2 are not watched.</p>` : figuresOf(rule, data)}
${says.map((text) => html`<p class="cause">${capital(text)}</p>`)}
<ul class="needs">${GUARD_NEEDS.map((text) => html`<li>${text}</li>`)}<li>Then it ${guard.action === "stepBack" ? "steps the rule back" : "warns, and goes on"} (<code>guard.action: ${guard.action}</code>).</li></ul></details>`;
}

function figuresOf({ name, guard, on }: FleetRule, { ownGuards, guardsTogether, instance }: PageData): Html {
  const own = on.includes(instance) ? ownGuards.get(name)?.figures : undefined;
  const all = guard?.figures;
  if (all === undefined) return html`<p>Nothing of this rule was translated in the last ten minutes.</p>`;
  const together = guardsTogether.get(name);
  const isAlone = on.length < 2;
  const rows = isAlone
    ? rowsOf(all)
    : html`${own === undefined ? "" : [placeRow("This replica"), rowsOf(own)]}${placeRow(`${counted(on.length, "replica")} counted together`)}${rowsOf(all)}`;
  const { longest, repeats } = all;
  const evidence = together?.evidence ?? all.evidence;
  const by =
    together === undefined
      ? isAlone
        ? ""
        : " on the replica that sees most"
      : `, ${counted(together.replicas, "replica")} judging together`;
  return html`${scrolling(
    `Translated and native requests of rule ${name}`,
    html`<table><thead><tr><th scope="col">Last ten minutes</th><th scope="col" class="number">Requests</th><th scope="col" class="number">Errors</th><th scope="col" class="number">Denied (401, 403)</th><th scope="col" class="number">429</th><th scope="col" class="number">95th percentile</th></tr></thead><tbody>${rows}</tbody></table>`,
  )}
<p class="note">${longest === undefined ? "Times: too few responses of both versions yet." : `Times are of ${longest.operation}, the slowest operation compared with native v1.`} ${repeats.asked === 0 ? "Native v1 was not asked about a failed read." : `Native v1 served ${count(repeats.served)} of ${count(repeats.asked)} failed reads that it was asked.`}</p>
<p>Evidence for an alarm: ${share(evidence)}${by}</p>${bar(evidence, evidence >= 2 / 3 ? "bad" : "warn")}`;
}

function placeRow(text: string): Html {
  return html`<tr class="place"><th scope="rowgroup" colspan="6">${text}</th></tr>`;
}

function rowsOf(figures: Figures): readonly Html[] {
  return [rowOf("native v1", figures, "native"), rowOf("translated", figures, "translated")];
}

function rowOf(what: string, figures: Figures, side: Side): Html {
  const { requests, errors, denied, limited } = figures[side];
  const ms = figures.longest?.[side === "native" ? "nativeMs" : "v2Ms"];
  return html`<tr><th scope="row">${what}</th><td class="number">${count(requests)}</td><td class="number">${rate(errors, requests)}</td><td class="number">${rate(denied, requests)}</td><td class="number">${rate(limited, requests)}</td><td class="number">${ms === undefined ? "–" : seconds(ms / 1000)}</td></tr>`;
}

function rate(some: number, all: number): string {
  if (all === 0) return "–";
  return some === 0 ? "0 %" : fineShare(some / all);
}
