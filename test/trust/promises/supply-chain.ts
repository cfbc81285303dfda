/** Promises about the packages, and about the tests that fail when a guard is removed. */
import { row, type TrustPromise } from "../row.ts";

export const SUPPLY_CHAIN: readonly TrustPromise[] = [
  {
    title: "The guards are there, and would be missed",
    says: "Packages have the versions that closed known holes, dangerous calls are not used, and each guard has a test that fails without it.",
    rows: [
      row("T-SEC-02", "packages and Node are at least the versions without known holes"),
      row("T-SEC-03", "the code uses none of the calls that opened such holes elsewhere"),
      row("T-SEC-04", "each guard is taken out in turn, and its tests fail"),
    ],
  },
];
