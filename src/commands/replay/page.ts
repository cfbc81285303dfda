/** The report of a replay as one page of HTML, complete without any other file and without scripts. */
import { type Html, html } from "../../page/html.ts";
import type { ReplayReport, ReplayVerdictWord } from "../../replay/report.ts";
import { type ReplayTable, tablesOf } from "./tables.ts";
import { notesOf, subjectLine, verdictLine } from "./text.ts";

const VERDICT_CLASSES: Readonly<Record<ReplayVerdictWord, string>> = {
  equal: "good",
  different: "bad",
  unknown: "warn",
};

/** Inline, since the page is a file that people keep and send. Its colours suit light and dark screens. */
const STYLE = html`<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; border-left: .4rem solid; padding-left: .7rem; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
.good { border-color: #1f8a4c; } .bad { border-color: #c93a31; } .warn { border-color: #b7791f; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8886; padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { white-space: nowrap; }
</style>`;

/** No address of the report becomes a link: recordings come from anywhere. */
export function replayPage(report: ReplayReport): string {
  const verdict = verdictLine(report);
  const notes = notesOf(report);
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${verdict} · carryover replay</title>
${STYLE}</head>
<body><main>
<h1 class="${VERDICT_CLASSES[report.verdict]}">${verdict}</h1>
${report.stopped === undefined ? "" : html`<p>Stopped: ${report.stopped}</p>`}
<p>${subjectLine(report)}</p>
${tablesOf(report).map(tableOf)}
${notes.length === 0 ? "" : html`<h2>Notes</h2><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`}
</main><footer><p>carryover ${report.version}</p></footer></body></html>`.toString();
}

function tableOf({ title, columns, rows, more }: ReplayTable): Html {
  return html`<section><h2>${title}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table><thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>
${more === 0 ? "" : html`<p>And ${more} more.</p>`}</section>
`;
}
