/** The load of this instance, what translating costs, and the instances that share the migration. */
import { percent } from "../rules/words.ts";
import type { OperationCost, PageData } from "./data.ts";
import { type Html, html } from "./html.ts";
import { badge, figure, figures, nothing, type Section, scrolling } from "./parts.ts";
import { bar } from "./plot.ts";
import { ago, bytes, count, seconds, time } from "./words.ts";

export function load({ load: found, instance }: PageData): Section {
  return {
    id: "load",
    title: "Lists and load",
    aside: `of this instance, ${instance}`,
    body:
      found === undefined
        ? nothing("This instance does not measure its load.")
        : html`${figures([
            figure(
              "Requests in flight",
              count(found.inFlight),
              html`of ${count(found.inFlightLimit)} (limits.inFlight)${bar(found.inFlight / found.inFlightLimit, found.inFlight > found.inFlightLimit * 0.75 ? "warn" : "plain")}`,
            ),
            figure("Long lists being read", count(found.lists.reading), `${count(found.lists.waiting)} wait`),
            figure(
              "Bodies held",
              bytes(found.heldBytes),
              html`of ${bytes(found.heldLimit)} (limits.memoryBytes)${bar(found.heldBytes / found.heldLimit)}`,
            ),
            figure("Memory of the process", bytes(found.residentBytes)),
            figure(
              "Event loop delay",
              found.loopDelay === undefined ? "–" : seconds(found.loopDelay),
              "99th percentile of the last seconds",
            ),
          ])}
${scrolling(
  "Upstreams",
  html`<table><thead><tr><th scope="col">Upstream</th><th scope="col">Circuit breaker</th><th scope="col" class="number">Pages being read</th><th scope="col" class="number">Calls waiting</th><th scope="col" class="number">Longest wait</th></tr></thead><tbody>${found.upstreams.map(
    ({ name, isOpen, reading, limit, waiting, longestMs }) =>
      html`<tr><th scope="row">${name}</th><td>${isOpen ? badge("open", "bad") : badge("closed", "good")}</td><td class="number">${count(reading)} of ${count(limit)}</td><td class="number">${count(waiting)}</td><td class="number">${waiting === 0 ? "–" : seconds(longestMs / 1000)}</td></tr>`,
  )}</tbody></table>`,
)}
<h3>Refused by carryover since its start</h3>
${
  found.refused.length === 0
    ? html`<p class="calm">Nothing was refused.</p>`
    : html`<ul class="reasons">${found.refused.slice(0, 8).map(([reason, number]) => html`<li><code>${reason}</code> ${count(number)}</li>`)}</ul>`
}`,
  };
}

const MOST_OPERATIONS = 12;

export function cost({ cost: found, instance }: PageData): Section {
  if (found === undefined || found.v1Requests === 0) {
    return { id: "cost", title: "Cost", body: nothing("No v1 request was served since this instance started.") };
  }
  const operations = found.operations.toSorted(
    (a, b) => b.translated.requests - a.translated.requests || b.native.requests - a.native.requests,
  );
  const calls = (found.upstreamCalls["v1"] ?? 0) + (found.upstreamCalls["v2"] ?? 0);
  return {
    id: "cost",
    title: "Cost",
    aside: `of this instance, ${instance}, since its start`,
    body: html`${figures([
      figure("Upstream calls per v1 request", (found.v1Calls / found.v1Requests).toFixed(2), "without comparisons"),
      figure("Calls to v2", count(found.upstreamCalls["v2"] ?? 0)),
      figure("Calls to native v1", count(found.upstreamCalls["v1"] ?? 0)),
      figure(
        "Calls for comparisons",
        count(found.comparisonCalls),
        calls === 0 ? undefined : `${percent(found.comparisonCalls / calls, 2)} of all calls`,
      ),
    ])}
${scrolling(
  "Cost by operation",
  html`<table><thead><tr><th scope="col">v1 operation</th><th scope="col">Served by</th><th scope="col" class="number">Requests</th><th scope="col" class="number">Calls per request</th><th scope="col" class="number">Median</th><th scope="col" class="number">99th percentile</th></tr></thead><tbody>${operations.slice(0, MOST_OPERATIONS).map(operationRows)}</tbody></table>`,
)}
<p class="note">A list that is translated needs a call for each page of v2. Times are estimated from the histogram <code>carryover_request_duration_seconds</code>.</p>`,
  };
}

function operationRows({ resource, operation, translated, native }: OperationCost): readonly Html[] {
  const sides = [["translated", translated] as const, ["native v1", native] as const].filter(
    ([, { requests }]) => requests > 0,
  );
  return sides.map(
    ([by, { requests, calls, median, p99 }], at) =>
      html`<tr>${at > 0 ? "" : html`<th scope="rowgroup" rowspan="${sides.length}">${resource} ${operation}</th>`}<td>${by}</td><td class="number">${count(requests)}</td><td class="number">${(calls / requests).toFixed(2)}</td><td class="number">${timeOf(median)}</td><td class="number">${timeOf(p99)}</td></tr>`,
  );
}

function timeOf(found: number | undefined): string {
  return found === undefined ? "–" : seconds(found);
}

const MOST_REPLICAS = 100;

export function fleet(data: PageData): Section {
  const { status, store, instance, version, at } = data;
  const { replicas, instances } = status;
  const present = replicas.filter(({ goneSince }) => goneSince === null).length;
  const [own] = instances;
  return {
    id: "fleet",
    title: "Fleet",
    aside: store === undefined ? "one instance, without a store" : `${count(Math.max(1, present))} present`,
    body: html`${figures([
      figure("This instance", instance, `version ${version}`),
      figure("Its rules", own?.rules?.slice(0, 8) ?? "none", own?.rules === null ? "no rules file" : "digest"),
      figure(
        "Store",
        store === undefined ? "none" : store.up ? badge("up", "good") : badge("away", "bad"),
        store === undefined ? "state.url is not set" : (store.fault ?? "replicas decide together"),
      ),
    ])}
${
  replicas.length === 0
    ? ""
    : scrolling(
        "Replicas",
        html`<table><thead><tr><th scope="col">Replica</th><th scope="col">State</th><th scope="col">Version</th><th scope="col">Rules</th><th scope="col">Last heard</th></tr></thead><tbody>${replicas
          .slice(0, MOST_REPLICAS)
          .map(
            (one) =>
              html`<tr><th scope="row">${one.name}</th><td>${one.goneSince === null ? badge("present", "good") : one.left ? badge("stopped", "plain") : badge("gone", "bad")}</td><td>${one.version}</td><td>${one.rules?.slice(0, 8) ?? "none"}</td><td>${time(Date.parse(one.heardAt), ago(Date.parse(one.heardAt), at))}</td></tr>`,
          )}</tbody></table>`,
      )
}
${replicas.length > MOST_REPLICAS ? html`<p class="note">And ${replicas.length - MOST_REPLICAS} more.</p>` : ""}`,
  };
}
