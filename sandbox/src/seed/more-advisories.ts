/** Which advisories show every event and every member that there is? */
import type { JsonObject } from "../json.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { Builder } from "./build.ts";
import type { SeededGroups } from "./groups.ts";

const SCAN: JsonObject = {
  scanner: "grype",
  subpackage: "sub",
  componentId: "id",
  component: "comp",
  componentVersion: "1",
  componentType: "apk",
  componentLocation: "/l",
  artifactVersion: "2",
  scannerVersion: "3",
  grypeDbBuilt: "2025-11-01T00:00:00Z",
  grypeDbChecksum: "sha256:cd",
};

/** Eight reasons for a false positive, by number. */
const REASONS = Array.from({ length: 8 }, (_, type) => ({
  falsePositiveDetermination: { type, note: `reason ${type}` },
}));

/** Every type of event with all of its members, and again with none. */
const EVENTS: readonly JsonObject[] = [
  { detection: { nvdapi: { cpeSearched: "cpe:a", cpeFound: "cpe:b" } } },
  { detection: { nvdapi: {} } },
  { detection: { manual: {} } },
  { detection: { scanv1: SCAN } },
  { detection: { scanv1: {} } },
  { detection: {} },
  {
    fixed: { fixedVersion: "1-r1", note: "n", scannerVersion: "3", grypeDbBuilt: "b", grypeDbChecksum: "c" },
  },
  { fixed: {} },
  ...REASONS,
  { analysisNotPlanned: { note: "n" } },
  { analysisNotPlanned: {} },
  { fixNotPlanned: { note: "n" } },
  { fixNotPlanned: {} },
  { pendingUpstreamFix: { note: "n" } },
  { pendingUpstreamFix: {} },
  { truePositiveDetermination: { note: "n" } },
  { truePositiveDetermination: {} },
  { patched: { patchedVersions: ["1", "2"], note: "n" } },
  { patched: {} },
];

/** What surrounds the type: an issue can be absent, empty or a text; every review state occurs. */
function surroundings(index: number): JsonObject {
  const issue = index % 3 === 0 ? {} : { issue: index % 3 === 1 ? "" : `ISSUE-${index}` };
  const people = { author: `author-${index % 4}`, ...(index % 2 === 0 ? {} : { reviewer: `reviewer-${index % 3}` }) };
  const findings = index % 4 === 0 ? {} : { findings: Buffer.from([index, 0xfb, 0xff]).toString("base64") };
  return { ...issue, ...people, ...findings, reviewState: index % 5 };
}

/** One with all events and members, deleted; and eight whose latest event is of each type in turn. */
export function fullAdvisories(build: Builder, groups: SeededGroups): readonly StoredRecord[] {
  const events = (types: readonly JsonObject[]) =>
    types.map((type, index) => {
      return { uid: build.random.hex(40), createTime: build.time(), ...surroundings(index), ...type };
    });
  const advisory = (name: string, more: JsonObject) =>
    build.record({ uid: build.uid(groups.root), advisoryId: `ADV-2026-${name}`, ...build.times(), ...more });
  const everything = advisory("FULL", {
    deleteTime: "2026-01-31T00:00:00Z",
    author: "author-0",
    artifactName: "everything",
    artifactType: "image",
    artifactArchitecture: "riscv64",
    componentName: "comp",
    componentLocation: "/l",
    componentType: "go-module",
    aliases: ["CVE-2026-0001", "GHSA-full", "id"],
    events: events(EVENTS),
    legacyAdvisoryId: "",
    severities: [
      { type: 1, score: "AV:N/AC:L" },
      { type: 3, score: "CVSS:4.0/AV:N" },
    ],
  });
  const nameOf = (type: JsonObject | undefined) => Object.keys(type ?? {})[0];
  const oneOfEach = EVENTS.filter((type, index) => nameOf(type) !== nameOf(EVENTS[index - 1]));
  const latest = oneOfEach.map((type, index) =>
    advisory(`LAST-${index}`, { author: "scanner", artifactName: `last-${index}`, events: events([type]) }),
  );
  return [everything, ...latest];
}
