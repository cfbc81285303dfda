import { expect, test } from "vitest";
import { progressOf } from "../../src/fleet/document.ts";
import { foldDocuments, type GoneDocument } from "../../src/fleet/fold.ts";
import { withPeers } from "../../src/fleet/peers.ts";
import { createReport } from "../../src/fleet/report.ts";
import type { AskedTimes } from "../../src/history/requests.ts";
import { progress } from "../commands/report/support.ts";
import { documentRig, START } from "../runtime/document-rig.ts";

const DAY = 86_400_000;
const BUCKET = 300_000;

/** One that worked from day `first` on for three days, and called different things on each. */
async function worked(id: string, first: number): Promise<GoneDocument> {
  const made = documentRig({ id });
  made.clock.at = START + first * DAY;
  for (let day = 0; day < 3; day++) {
    made.call("ci", { resource: day % 2 === 0 ? "group" : "role", status: first > 2 ? 500 : 200 });
    made.call(`only-${id}`, { operation: "update", mode: "native" });
    made.clock.at += DAY;
  }
  made.tally.restore([{ resource: "group", operation: "list", client: "ci", comparisons: 4 + first, differences: 1 }]);
  made.events.record({ kind: "stopped", reason: `of ${id}` });
  made.publisher.start();
  made.publisher.publish();
  return { document: await made.read(), goneSince: made.clock.at };
}

const all = await Promise.all([worked("a", 0), worked("b", 3), worked("c", 4)]);
const NOW = START + 8 * DAY;

function reportOf(documents: readonly GoneDocument[], times: AskedTimes) {
  const own = progress({
    instance: "own",
    contributor: "own",
    at: NOW,
    window: { from: NOW - DAY, to: NOW, rows: [] },
  });
  const peers = documents.map(({ document, goneSince }, at) => {
    const { watched } = document.head;
    return { ...progressOf(document, NOW, times), name: `gone-${at}`, goneSince, watched };
  });
  const { instances: _, ...report } = createReport(
    withPeers([{ address: "http://a:1", progress: { ...own, peers } }]),
    times,
  );
  // Of a window, the last request of a kind is known to the bucket.
  const rows = report.window.rows?.map((row) => ({ ...row, lastSeen: Math.floor(Date.parse(row.lastSeen) / BUCKET) }));
  return { ...report, window: { ...report.window, rows } };
}

test.each<AskedTimes>([
  { from: undefined, to: undefined },
  { from: -7 * DAY, to: undefined },
  { from: START + 2 * DAY, to: START + 6 * DAY },
])("a report over documents and over their fold say the same: %o", (times) => {
  const folded = foldDocuments(all, "folded");
  if (folded === undefined) throw new Error("there is something to fold");
  expect(reportOf([folded], times)).toEqual(reportOf(all, times));
  const [a, b, c] = all;
  const steps = foldDocuments([foldDocuments([a, b] as GoneDocument[], "folded"), c] as GoneDocument[], "folded");
  expect(reportOf([steps] as GoneDocument[], times)).toEqual(reportOf(all, times));
});

test("events are those of all, by time", () => {
  expect(foldDocuments(all, "folded")?.document.events.map(({ reason }) => reason)).toEqual(["of a", "of b", "of c"]);
});
