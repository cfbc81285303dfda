/** Promises about the packages, and about the tests that fail when a guard is removed. */
import { row, type TrustPromise } from "../row.ts";

export const SUPPLY_CHAIN: readonly TrustPromise[] = [
  {
    title: "The guards are there, and would be missed",
    says: "Packages have versions without known vulnerabilities, and the code uses no dangerous calls. Each guard has a test that fails without it.",
    rows: [
      row("T-SEC-02", "packages and Node are at least the versions without known vulnerabilities"),
      row("T-SEC-03", "the code uses none of the calls that caused such vulnerabilities elsewhere"),
      row("T-SEC-04", "each guard is removed in turn, and its tests fail"),
    ],
  },
];
