/** What must be seen even where only a program reads the report? (On standard error.) */
import { CLOCKS_MAY_DIFFER, sayBehind } from "./clocks.ts";
import { oneLine } from "./one-line.ts";
import { lastLine } from "./sections.ts";
import type { Report } from "./shape.ts";

/** Each address that was not heard, bad rules files, ledgers from one file, clocks that differ, and (`reason`) why --fail-if-v1 failed. */
export function warningsOf(report: Report, reason: boolean): readonly string[] {
  const silent = report.instances.flatMap(({ address, fault }) => (fault === null ? [] : [`${address} ${fault}`]));
  const bad = report.instances.flatMap(({ address, lastReloadSuccessful }) =>
    lastReloadSuccessful === false
      ? [`${address} runs on older rules: its rules file is bad (GET ${address}/rules)`]
      : [],
  );
  const shared = report.instances.flatMap(({ address, sharesLedgerWith }) =>
    sharesLedgerWith === null
      ? []
      : [
          `${address} began with the same ledger file as ${sharesLedgerWith}: what it held is counted for both (give each replica a clients.file of its own)`,
        ],
  );
  const slow = report.instances.flatMap(({ address, sameAs, clockBehind }) =>
    sameAs !== null || clockBehind === null || clockBehind <= CLOCKS_MAY_DIFFER
      ? []
      : [
          `${address} has a clock that is ${sayBehind(clockBehind)} behind the latest: set the clocks (times in the report are by the latest)`,
        ],
  );
  const failed = reason && report.v1Left !== "no" ? [lastLine(report)] : [];
  return [...silent, ...bad, ...shared, ...slow, ...failed].map(oneLine);
}
