/** The groups of the seeded organisation. */
import type { StoredRecord } from "../store/collection.ts";
import { AWKWARD_TEXTS, type Builder } from "./build.ts";

const DIVISIONS = ["platform", "payments", "search", "mobile", "data", "security", "growth", "internal it"] as const;
const TEAMS = [
  "api",
  "web",
  "ops",
  "core",
  "tools",
  "infra",
  "qa",
  "edge",
  "labs",
  "sre",
  "release",
  "support",
] as const;
const STAGES = ["dev", "staging", "prod", "sandbox", "ci", "perf", "archive", "preview", "canary", "dr"] as const;
/** ORG_KIND_CUSTOMER, ORG_STATUS_READY. */
const CUSTOMER = { kind: 2, status: 2 };

export interface SeededGroups {
  readonly records: readonly StoredRecord[];
  readonly root: string;
  readonly otherRoot: string;
  /** Teams: groups with groups below them. */
  readonly teams: readonly string[];
  /** Groups without anything below. */
  readonly leaves: readonly string[];
}

function group(build: Builder, parent: string, name: string, more: object = {}): StoredRecord {
  const uid = build.uid(parent);
  const description = build.random.chance(0.2) ? build.random.pick(AWKWARD_TEXTS) : `${name} of the company`;
  const text = description === "" ? {} : { description };
  const limits = build.random.chance(0.1) ? { resourceLimits: { clusters: 3, idps: 1, repositories: 250, id: 7 } } : {};
  return build.record({
    uid,
    name,
    ...text,
    ...limits,
    ...(parent === "" ? {} : { kind: 2 }),
    ...build.times(),
    ...more,
  });
}

/** Two organisations: a verified one with 8 divisions, 96 teams and 960 stages, and a small unverified one. */
export function seedGroups(build: Builder, organisation: boolean): SeededGroups {
  const limits = { clusters: 10, idps: 3, repositories: 1000 };
  const root = group(build, "", "acme", {
    ...CUSTOMER,
    description: "The whole company",
    verified: true,
    resourceLimits: limits,
  });
  const other = group(build, "", "globex", { status: 2, description: "Another company" });
  const records = [root, other];
  const teams: string[] = [];
  const leaves: string[] = [];
  const grow = (parent: string, name: string) => {
    const record = group(build, parent, name);
    records.push(record);
    return record.uid;
  };
  for (const division of organisation ? DIVISIONS : []) {
    const above = grow(root.uid, division);
    for (const team of TEAMS) {
      const here = grow(above, `${division}-${team}`);
      teams.push(here);
      for (const stage of STAGES) leaves.push(grow(here, `${team}.${stage}`));
    }
  }
  // At their zeros: no description, no limits, no kind.
  for (const name of organisation ? ["a", "x_1", "0 0"] : []) {
    records.push(build.record({ uid: build.uid(other.uid), name, ...build.times() }));
  }
  return { records, root: root.uid, otherRoot: other.uid, teams, leaves };
}

/** A group below `root` with `count` groups directly below it. */
export function seedFleet(build: Builder, root: string, count: number): readonly StoredRecord[] {
  if (count === 0) return [];
  const fleet = build.uid(root);
  const records = [build.record({ uid: fleet, name: "fleet", kind: 2, ...build.times() })];
  for (let index = 0; index < count; index++) {
    const value = {
      uid: build.uid(fleet),
      name: `fleet-${index}`,
      description: `member ${index} of the fleet`,
      kind: 2,
    };
    records.push(build.record({ ...value, ...build.times() }));
  }
  return records;
}
