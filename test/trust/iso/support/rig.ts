/** The requests of the isolation tests, and the carryover that they go through. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Exchange } from "../../../../src/model/exchange.ts";
import { later } from "../../../end-to-end/app/rig.ts";
import { startCarryover } from "../../../support/carryover.ts";
import type { Errand } from "./client.ts";
import type { MarkerPlatform } from "./platform.ts";
import type { Tenant } from "./tenants.ts";

const RULES = `version: carryover/v1
rules:
  - name: native
    match: { header: { x-way: native } }
    mode: native
  - name: shadow
    match: { header: { x-way: shadow } }
    mode: shadow
    shadow: { sample: 0.2, control: 0 }
`;

export interface Through {
  readonly port: number;
  readonly adminUrl: string;
  /** Empty where no flag asks for the gRPC port. */
  readonly rpcUrl: string;
  /** Requests that ended, by what became of them. */
  readonly ended: { aborted: number; internal: number };
}

/** carryover before `platform`, which is both versions: every mode, few connections. */
export async function through(
  platform: MarkerPlatform,
  flags: Readonly<Record<string, string>> = {},
  logLine?: (line: string) => void,
): Promise<Through> {
  const folder = await mkdtemp(join(tmpdir(), "iso-"));
  later(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "rules.yaml"), RULES);
  const ended = { aborted: 0, internal: 0 };
  const {
    url,
    adminUrl,
    grpcUrl: rpcUrl = "",
    close,
  } = await startCarryover({
    v2Url: platform.url,
    v1Url: platform.url,
    ...(logLine === undefined ? {} : { logLine }),
    flags: {
      cutoverRulesFile: join(folder, "rules.yaml"),
      upstreamV2Connections: "8",
      upstreamV1Connections: "4",
      listsReadersPerUpstream: "8",
      listsMaxConcurrent: "1000",
      ...flags,
    },
    onExchange: ({ aborted, reason }: Exchange) => {
      if (aborted) ended.aborted++;
      if (reason === "INTERNAL") ended.internal++;
    },
  });
  later(close);
  return { port: Number(new URL(url).port), adminUrl, rpcUrl, ended };
}

type Make = (tenant: Tenant, random: () => number) => Pick<Errand, "method" | "target"> & Partial<Errand>;
type Kind = readonly [weight: number, make: Make];

const GOOD = [200] as const;
const uidOf = ({ marker }: Tenant, random: () => number) => `${marker}/g${Math.floor(random() * 1000)}`;
const bodyOf = ({ marker }: Tenant, random: () => number) =>
  JSON.stringify({ name: `${marker} is asked`, ...(random() < 0.5 ? { description: `${marker} says` } : {}) });

/** What is asked, how often in proportion. */
const MIX: readonly [Kind, ...Kind[]] = [
  [30, (tenant, random) => ({ method: "GET", target: `/iam/v1/groups/${uidOf(tenant, random)}` })],
  [12, () => ({ method: "GET", target: "/iam/v1/groups" })],
  [0.2, () => ({ method: "GET", target: "/iam/v1/groups?name=many" })],
  [0.2, () => ({ method: "GET", target: "/iam/v1/groups?name=many", fields: "Accept-Encoding: gzip\r\n" })],
  [
    8,
    (tenant, random) => ({
      method: "PUT",
      target: `/iam/v1/groups/${uidOf(tenant, random)}`,
      body: bodyOf(tenant, random),
    }),
  ],
  [
    4,
    (tenant, random) => ({ method: "POST", target: `/iam/v1/groups/${tenant.marker}`, body: bodyOf(tenant, random) }),
  ],
  [2, (tenant, random) => ({ method: "DELETE", target: `/iam/v1/groups/${uidOf(tenant, random)}`, marked: false })],
  [14, (tenant, random) => ({ method: "GET", target: `/iam/v2beta1/groups/${uidOf(tenant, random)}` })],
  [
    3,
    (tenant, random) => ({
      method: "GET",
      target: `/iam/v2beta1/groups/${uidOf(tenant, random)}?pad=${Math.floor(random() * 2000) + 1}`,
    }),
  ],
  [
    4,
    (tenant, random) => ({
      method: "PATCH",
      target: `/iam/v2beta1/groups/${uidOf(tenant, random)}?updateMask=name`,
      body: bodyOf(tenant, random),
    }),
  ],
  [8, () => ({ method: "GET", target: "/iam/v1/groups", fields: "X-Way: native\r\n" })],
  [8, () => ({ method: "GET", target: "/iam/v1/groups", fields: "X-Way: shadow\r\n" })],
  [3, ({ marker }) => ({ method: "GET", target: `/iam/v1/groups/${marker}/missing`, statuses: [404] })],
  [
    2,
    ({ marker }) => ({
      method: "PUT",
      target: `/iam/v1/groups/${marker}/x`,
      body: `{"name":"${marker}`,
      statuses: [400],
    }),
  ],
];
const WEIGHT = MIX.reduce((sum, [weight]) => sum + weight, 0);
const MAKES = MIX.map(([, make], at) => ({
  make,
  until: MIX.slice(0, at + 1).reduce((sum, [weight]) => sum + weight, 0),
}));

/** One request of each kind. */
export function errandsOfEachKind(tenant: Tenant, random: () => number): readonly Errand[] {
  return MIX.map(([, make]) => ({ tenant, statuses: GOOD, marked: true, ...make(tenant, random) }));
}

/** A request of any kind, of any tenant. */
export function errandOf(all: readonly Tenant[], random: () => number): Errand {
  const tenant = all[Math.floor(random() * all.length)] as Tenant;
  const at = random() * WEIGHT;
  const make = MAKES.find(({ until }) => at < until)?.make ?? MIX[0][1];
  return { tenant, statuses: GOOD, marked: true, ...make(tenant, random) };
}
