/**
 * Promises about what belongs to one caller, and never reaches another caller or a place where secrets do not belong.
 */
import { row, type TrustPromise } from "../row.ts";

export const NOTHING_LEAKED: readonly TrustPromise[] = [
  {
    title: "Nobody gets what is another's",
    says: "Answers, errors and waits of one credential never reach another, whatever clients and connections do.",
    rows: [
      row("T-ISO-01", "many tenants at a time: no answer carries another's marker"),
      row("T-ISO-02", "equal requests of two credentials are two calls"),
      row("T-ISO-03", "equal lists of one credential are read once, and outlive the first that asked"),
      row("T-ISO-04", "a revoked credential is refused within the time that answers are kept"),
      row("T-ISO-05", "keys of different requests are different"),
      row("T-ISO-06", "a storm of cancelled requests leaves no connection out of step"),
      row("T-ISO-07", "late answers reach nobody else"),
      row("T-ISO-08", "an error of one is not copied to those who wait with it"),
      row("T-ISO-11", "one tenant cannot take cache and places from all"),
      row("T-ISO-12", "no cache between may keep a v1 answer"),
      row("T-FLT-14", "a second answer that nobody asked for reaches nobody"),
    ],
  },
  {
    title: "A credential goes to the platform and nowhere else",
    says: "It is sent to a platform whose certificate holds, is never written down, and is forgotten.",
    rows: [
      row("T-SEC-01", "no way through carryover sends a credential to a platform with a bad certificate"),
      row("T-FLT-17", "self-signed, expired, foreign and outdated TLS is refused before a byte is sent"),
      row("T-ISO-09", "no log line of any kind holds a token, a page token or a secret of a query"),
      row("T-ISO-10", "tokens are gone from memory soon after the last request"),
      row("T-FLT-24", "metrics are quick under load, and hold no token and no uid"),
    ],
  },
];
