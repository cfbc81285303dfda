/** The advisories of the seeded organisation. */
import type { JsonObject } from "../json.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { Builder } from "./build.ts";
import type { SeededGroups } from "./groups.ts";

/** What an event can be; the last kind has a v1 name only. */
const KINDS: readonly JsonObject[] = [
  { detection: { manual: {} } },
  { detection: { nvdapi: { cpeSearched: "cpe:2.3:a:*", cpeFound: "cpe:2.3:a:x" } } },
  {
    detection: {
      scanv1: {
        scanner: "grype",
        subpackage: "libssl",
        componentId: "c-1",
        component: "openssl",
        componentVersion: "3.1",
        componentType: "apk",
        componentLocation: "/lib/apk/db/installed",
        artifactVersion: "1.0-r1",
        scannerVersion: "0.80",
        grypeDbBuilt: "2025-11-01",
        grypeDbChecksum: "sha256:ab",
      },
    },
  },
  { truePositiveDetermination: { note: "confirmed" } },
  { fixed: { fixedVersion: "3.1-r2", note: "" } },
  { falsePositiveDetermination: { type: 4, note: "not in the package" } },
  { analysisNotPlanned: { note: "end of life" } },
  { fixNotPlanned: {} },
  { pendingUpstreamFix: { note: "waiting" } },
  { patched: { patchedVersions: ["3.1-r3", "3.2"], note: "backport" } },
  {},
];

function events(build: Builder, index: number): { events: JsonObject[]; moved: JsonObject } {
  const moved: JsonObject = {};
  const list = Array.from({ length: index % 5 }, (_, at) => {
    const uid = build.random.hex(40);
    const kind = KINDS[(index + at * 3) % KINDS.length] ?? {};
    if (Object.keys(kind).length === 0) moved[uid] = { previousLocation: "/old", newLocation: "/new", note: "moved" };
    return {
      uid,
      createTime: build.time(),
      author: at % 2 === 0 ? "scanner" : "jane",
      ...(at % 3 === 1 ? { reviewer: "sam", issue: `ISSUE-${index}` } : {}),
      ...(at % 2 === 1 ? { findings: Buffer.from(`finding ${index}`).toString("base64") } : {}),
      reviewState: (index + at) % 5,
      ...kind,
    };
  });
  return { events: list, moved };
}

/** Sixty advisories under the root group. `beyondV2`: some tell of a moved component, for which v2 has no word. */
export function seedAdvisories(build: Builder, groups: SeededGroups, beyondV2: boolean): readonly StoredRecord[] {
  return Array.from({ length: 60 }, (_, index) => {
    const { events: list, moved } = events(build, index);
    const component = { componentName: "openssl", componentLocation: `/usr/lib/${index}`, componentType: "apk" };
    const value: JsonObject = {
      uid: build.uid(groups.root),
      advisoryId: `ADV-2025-${String(index).padStart(4, "0")}`,
      ...build.times(),
      ...(index % 11 === 10 ? { deleteTime: build.time() } : {}),
      author: "scanner",
      artifactName: `package-${index % 7}`,
      artifactType: index % 2 === 0 ? "apk" : "image",
      artifactArchitecture: index % 3 === 0 ? "aarch64" : "x86_64",
      ...(index % 4 === 3 ? {} : component),
      ...(index % 6 === 5 ? {} : { aliases: [`CVE-2025-${1000 + index}`, `GHSA-${build.random.hex(4)}-uid`] }),
      ...(list.length === 0 ? {} : { events: list }),
      ...(index % 4 === 0 ? { legacyAdvisoryId: `OLD-${index}` } : {}),
      ...(index % 3 === 0 ? { severities: [{ type: 2, score: "CVSS:3.1/AV:N" }] } : {}),
    };
    const origin = index % 2 === 0 ? { origin: "upstream" } : {};
    return build.record(value, !beyondV2 || Object.keys(moved).length === 0 ? origin : { ...origin, moved });
  });
}

// Advisories with every event and every member.

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
