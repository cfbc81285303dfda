/** Exchanges, ledgers and snapshots for the tests of the ledger. */
import fc from "fast-check";
import type { ClientEntry, ClientNeeds, LedgerSnapshot } from "../../src/ledger/entry.ts";
import { createLedger, type Ledger, type LedgerOptions } from "../../src/ledger/ledger.ts";
import { createExchange, type Exchange, type UpstreamCall } from "../../src/model/exchange.ts";

export const NO_NEEDS: ClientNeeds = { longLists: [], zeroedFields: [], lacking: [], unknownFields: [], unseen: [] };

export function call(status: number): UpstreamCall {
  return { upstream: "v2", method: "GET", path: "/", status, ms: 1 };
}

/** A v1 list of groups that was translated and answered, but for what `given` says. */
export function exchange(client: string, given: Partial<Exchange> = {}): Exchange {
  return Object.assign(createExchange("r", 0, "GET", "/iam/v1/groups"), {
    apiVersion: "v1",
    resource: "group",
    operation: "list",
    mode: "translate",
    status: 200,
    client,
    calls: [call(200)],
    ...given,
  } satisfies Partial<Exchange>);
}

/** A v2 request that was handed on. */
export function v2Exchange(client: string): Exchange {
  return exchange(client, { apiVersion: "v2", mode: "pass", resource: "unknown", operation: "unknown" });
}

/** A ledger whose clock stands at `clock.at`; `rawsbom` and whatever else is no list, get or update is lacking. */
export function ledgerOf({
  identity,
  ...given
}: Partial<Omit<LedgerOptions, "identity">> & { readonly identity?: Partial<LedgerOptions["identity"]> } = {}): {
  readonly ledger: Ledger;
  readonly clock: { at: number };
} {
  const clock = { at: 1000 };
  const ledger = createLedger({
    max: 10,
    wall: () => clock.at,
    instance: "i1",
    pageSize: 200,
    traits: {
      isLackingInV2: (_resource, operation) => !["list", "get", "update"].includes(operation),
      revealsNeeds: (_resource, operation) => ["list", "update"].includes(operation),
    },
    identity: {
      labelOf: (name) => `c-${name}`,
      isExcluded: (name) => name === "probe",
      nameNow: (name) => name,
      ...identity,
    },
    ...given,
  });
  return { ledger, clock };
}

const small = fc.integer({ min: 0, max: 50 });
const resource = fc.constantFrom("group", "role", "repo");
const operation = fc.constantFrom("list", "get", "update", "sbom");
const fields = fc.uniqueArray(fc.record({ resource, field: fc.constantFrom("a", "b", "c") }), {
  maxLength: 4,
  selector: (one) => JSON.stringify(one),
});

const entry: fc.Arbitrary<ClientEntry> = fc
  .record({
    name: fc.constantFrom("a", "b", "c", "d", "e"),
    at: fc.tuple(small, small),
    v1: small,
    v2: small,
    operations: fc.uniqueArray(
      fc
        .record({ resource, operation, failed: small, requests: small, lastSeen: small, unseen: fc.boolean() })
        .map(({ failed, requests, ...one }) =>
          failed === 0 || failed > requests
            ? { ...one, requests }
            : { ...one, requests, errors: { [failed % 2 === 0 ? "client" : "translation"]: failed } },
        ),
      {
        maxLength: 6,
        selector: (one) => `${one.resource} ${one.operation}`,
      },
    ),
    longLists: fc.uniqueArray(fc.record({ resource, records: small }), {
      maxLength: 3,
      selector: (one) => one.resource,
    }),
    zeroedFields: fields,
    unknownFields: fields,
  })
  .map(({ name, at, v1, v2, operations, ...needs }) => ({
    name,
    label: `c-${name}`,
    firstSeen: Math.min(...at),
    lastSeen: Math.max(...at),
    lastV1: v1 === 0 ? undefined : Math.max(...at),
    requests: { v1, v2 },
    over: Math.min(v1, 3),
    operations: operations.map(({ unseen, ...one }) => one),
    needs: {
      ...NO_NEEDS,
      ...needs,
      unseen: operations
        .filter(({ unseen }) => unseen)
        .map((one) => ({ resource: one.resource, operation: one.operation })),
    },
  }));

/** Snapshots of single instances, each in one state. */
export const snapshots: fc.Arbitrary<readonly LedgerSnapshot[]> = fc
  .array(fc.tuple(fc.uniqueArray(entry, { maxLength: 5, selector: ({ name }) => name }), small, small), {
    minLength: 1,
    maxLength: 4,
  })
  .map((list) =>
    list.map(([clients, since, bound], index) => ({
      version: 1,
      instances: [`i${index}`],
      since,
      at: since + 1,
      requests: { v1: 1000, v2: 1000 },
      bound: bound + 3,
      clients,
    })),
  );
