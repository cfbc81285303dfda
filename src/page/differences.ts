/** Where native and translated responses differ: samples by operation, the two values side by side. */
import { grouped } from "../model/group.ts";
import { clientLink } from "./clients.ts";
import type { PageData, PageDifference, PageSample } from "./data.ts";
import { type Html, html } from "./html.ts";
import { nothing, type Section, scrolling } from "./parts.ts";
import { count, time } from "./words.ts";

const MOST_OPERATIONS = 20;
const MOST_ROWS = 12;

export function differences({ samples, status }: PageData): Section {
  const compared = status.rules.some(({ mode }) => mode === "shadow") || samples.samples.length > 0;
  const groups = grouped(samples.samples, ({ resource, operation }) => [resource, operation]);
  return {
    id: "differences",
    title: "Differences",
    aside: samples.values === "redact" ? "values are redacted (shadow.values)" : "values are shown (shadow.values)",
    body:
      groups.length === 0
        ? nothing(
            compared
              ? "No sample of a differing response is kept."
              : "Nothing is compared: a rule with mode shadow compares native and translated responses.",
          )
        : html`${groups.slice(0, MOST_OPERATIONS).map(operationBlock)}${groups.length > MOST_OPERATIONS ? html`<p class="note">And ${groups.length - MOST_OPERATIONS} more operations: see /samples.</p>` : ""}`,
  };
}

function operationBlock(samples: readonly [PageSample, ...PageSample[]]): Html {
  const [latest] = samples;
  const all = samples.flatMap((sample) => sample.differences.map((difference) => ({ ...difference, sample })));
  const kinds = grouped(all, ({ class: what, path }) => [what, path]).toSorted((a, b) => b.length - a.length);
  return html`<div class="difference"><h3>${latest.resource} ${latest.operation}</h3>
<p class="note">${count(samples.length)} ${samples.length === 1 ? "sample" : "samples"}; the latest ${time(Date.parse(latest.at))} by <a href="${clientLink(latest.client)}">${latest.client}</a>${latest.rule === undefined ? "" : html`, rule ${latest.rule}`}</p>
${scrolling(
  `Differences of ${latest.resource} ${latest.operation}`,
  html`<table class="sides"><thead><tr><th scope="col">Where</th><th scope="col">native v1</th><th scope="col">translated</th><th scope="col">What removes it</th><th scope="col" class="number">Of its kind</th></tr></thead>
<tbody>${kinds.slice(0, MOST_ROWS).map(([first, ...more]) => row(first, more.length))}</tbody></table>`,
)}
${kinds.length > MOST_ROWS ? html`<p class="note">And ${kinds.length - MOST_ROWS} more kinds.</p>` : ""}</div>`;
}

function row({ class: what, path, native, translated, set }: PageDifference, more: number): Html {
  const value = (text: string | undefined) =>
    text === undefined ? html`<span class="quiet">absent</span>` : html`<code>${text}</code>`;
  return html`<tr><th scope="row"><code>${path === "" ? "(all)" : path}</code> <small>${what}</small></th><td>${value(native)}</td><td>${value(translated)}</td><td>${set === undefined ? html`<span class="quiet">no setting</span>` : html`<code>${set}</code>`}</td><td class="number">${more === 0 ? "1" : `${more + 1}`}</td></tr>`;
}
