/**
 * Promises about what belongs to one caller, and never reaches another caller or a place where secrets do not belong.
 */
import { row, type TrustPromise } from "../row.ts";

export const NOTHING_LEAKED: readonly TrustPromise[] = [
  {
    title: "Nobody gets what is another's",
    says: "Responses, errors and delays of one credential never reach another, whatever clients and connections do.",
    rows: [
      row("T-ISO-01", "many tenants at a time: no response carries another tenant's marker"),
      ...(
        [
          ["T-ISO-02", "equal requests with two credentials share no response"],
          ["T-ISO-03", "equal requests with one credential share no response that breaks off"],
          ["T-ISO-04", "no response outlives a credential that is revoked"],
          ["T-ISO-05", "keys of kept responses differ"],
          ["T-ISO-08", "the error of one request is not copied to the requests that wait with it"],
        ] as const
      ).map(([id, what]) => ({ id, what, notApplicable: "carryover keeps no response for another request" })),
      row("T-ISO-06", "a storm of cancelled requests leaves no connection out of step"),
      row("T-ISO-07", "a late response never reaches another client"),
      row("T-ISO-11", "one tenant cannot take the places of all lists"),
      row("T-ISO-12", "no intermediate cache may store a v1 response"),
      row("T-FLT-14", "a second response that no request asked for reaches no client"),
      row(
        "T-RPC-09",
        "two credentials over shared gRPC connections, as behind a proxy: no response carries a marker of the other",
      ),
      row("T-RPC-10", "a storm of cancelled and late gRPC calls leaves no connection out of step"),
      row("T-RPC-11", "one credential cannot take all streams and places of gRPC calls"),
    ],
  },
  {
    title: "A credential goes to the platform and nowhere else",
    says: "carryover sends a credential only to a platform with a valid certificate, never logs or stores it, and forgets it.",
    rows: [
      row("T-SEC-01", "no path through carryover sends a credential to a platform with a bad certificate"),
      row("T-FLT-17", "self-signed, expired, foreign and outdated TLS is refused before a byte is sent"),
      row("T-ISO-09", "no log line of any kind holds a token, a page token or a secret from a query"),
      row("T-ISO-10", "tokens are gone from memory soon after the last request"),
      row("T-FLT-24", "metrics are quick under load, and hold no token and no uid"),
      row("T-RPC-12", "no gRPC call sends a credential to a platform with a bad certificate"),
      row("T-RPC-13", "a gRPC call with two credentials is refused"),
      row("T-RPC-14", "the log of gRPC calls holds no token and no message"),
      row("T-RPC-15", "invented names of gRPC methods create no new metrics"),
    ],
  },
];
