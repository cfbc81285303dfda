/** Examples of what v1 and v2 send: advisorys. */
import type { Example } from "../../../model/resource.ts";
import { CREATED, notFound, ORG, UPDATED } from "../../example-values.ts";

const ADVISORY = `${ORG}/adadadadadadadad`;

const EVENT = `${ADVISORY}/eeeeeeeeeeeeeeee`;

const scanned = {
  scanner: "s",
  componentId: "c1",
  componentVersion: "1.0",
  componentType: "apk",
  componentLocation: "/lib",
  artifactVersion: "1.1",
  scannerVersion: "0.9",
  grypeDbBuilt: "2026-03-01",
  grypeDbChecksum: "sha256:0",
};

const fixed = { fixedVersion: "1.2", note: "n", scannerVersion: "0.9", grypeDbBuilt: "b", grypeDbChecksum: "c" };

const head = { findings: "e30=", author: "a", reviewer: "r" };

/** The events of the full example: [the members that v2 adds to the head, the members that v1 shows for them]. */
const eventsV2 = [
  { detection: { scanv1: { ...scanned, subpackage: "sub", component: "comp" } }, reviewState: "REVIEW_STATE_PENDING" },
  { detection: { manual: {} }, reviewState: "REVIEW_STATE_APPROVED" },
  { detection: { nvdapi: { cpeSearched: "x", cpeFound: "y" } }, reviewState: "REVIEW_STATE_REJECTED" },
  { fixed, reviewState: "REVIEW_STATE_UNSPECIFIED", issue: "" },
  {
    falsePositiveDetermination: { type: "TYPE_INLINE_MITIGATIONS_EXIST", note: "n" },
    reviewState: "REVIEW_STATE_REQUEST_CHANGES",
  },
  { analysisNotPlanned: { note: "n" }, reviewState: "REVIEW_STATE_APPROVED" },
  { fixNotPlanned: { note: "n" }, reviewState: "REVIEW_STATE_APPROVED" },
  { pendingUpstreamFix: { note: "n" }, reviewState: "REVIEW_STATE_APPROVED" },
  { truePositiveDetermination: { note: "n" }, reviewState: "REVIEW_STATE_APPROVED" },
  { patched: { patchedVersions: ["1.3"], note: "n" }, reviewState: "REVIEW_STATE_APPROVED" },
];

const eventsV1 = [
  { detection: { scanv1: { ...scanned, subpackageName: "sub", componentName: "comp" } }, status: "PENDING" },
  { detection: { manual: {} }, status: "APPROVED" },
  { detection: { nvdapi: { cpeSearched: "x", cpeFound: "y" } }, status: "REJECTED" },
  { fixed, status: "UNKNOWN", issue: "" },
  { falsePositiveDetermination: { type: "INLINE_MITIGATIONS_EXIST", note: "n" }, status: "REQUEST_CHANGES" },
  { analysisNotPlanned: { note: "n" }, status: "APPROVED" },
  { fixNotPlanned: { note: "n" }, status: "APPROVED" },
  { pendingUpstreamFix: { note: "n" }, status: "APPROVED" },
  { truePositiveDetermination: { note: "n" }, status: "APPROVED" },
  { patched: { patchedVersions: ["1.3"], note: "n" }, status: "APPROVED" },
];

const subject = {
  artifactType: "package",
  artifactName: "openssl",
  artifactArchitecture: "x86_64",
  componentName: "libssl",
  componentLocation: "/usr/lib",
  componentType: "apk",
  aliases: ["CVE-2026-0001"],
  advisoryId: "ADV-1",
  author: "a",
};

const listEvents = { of: "exchange", operation: "list-events", path: `advisories/${ADVISORY}/events` } as const;

export default [
  {
    of: "answer",
    operation: "list",
    v2: {
      uid: ADVISORY,
      ...subject,
      createTime: CREATED,
      updateTime: UPDATED,
      deleteTime: UPDATED,
      events: eventsV2.map((each) => ({ uid: EVENT, createTime: CREATED, ...head, ...each })),
      legacyAdvisoryId: "OLD-1",
      severities: [{ type: "TYPE_CVSS_V3", score: "9.8" }],
    },
    v1: {
      id: ADVISORY,
      ...subject,
      createdAt: CREATED,
      updatedAt: UPDATED,
      deletedAt: UPDATED,
      events: eventsV1.map((each) => ({ id: EVENT, timestamp: CREATED, ...head, ...each })),
      legacyAdvisoryID: "OLD-1",
    },
  },
  // An event of a kind that v2 cannot name arrives without a type; nothing optional is made up.
  {
    of: "answer",
    operation: "list",
    v2: { uid: ADVISORY, artifactName: "openssl", events: [{ uid: EVENT }] },
    v1: {
      id: ADVISORY,
      artifactType: "",
      artifactName: "openssl",
      artifactArchitecture: "",
      aliases: [],
      events: [{ id: EVENT, timestamp: null, findings: "", author: "", reviewer: "", status: "UNKNOWN" }],
      advisoryId: "",
      author: "",
    },
  },
  {
    ...listEvents,
    calls: [
      {
        call: `GET advisories/${ADVISORY}`,
        answer: {
          uid: ADVISORY,
          ...subject,
          createTime: CREATED,
          events: eventsV2.map((each) => ({ uid: EVENT, createTime: CREATED, ...head, ...each })),
          severities: [{ type: "TYPE_CVSS_V3", score: "9.8" }],
        },
      },
    ],
    answer: {
      parentId: ADVISORY,
      items: eventsV1.map((each) => ({ id: EVENT, timestamp: CREATED, ...head, ...each })),
    },
  },
  {
    ...listEvents,
    calls: [{ call: `GET advisories/${ADVISORY}`, answer: { uid: ADVISORY, events: [] } }],
    answer: { parentId: ADVISORY, items: [] },
  },
  // A platform that leaves zeros out: its v1 named no record for an empty list.
  {
    ...listEvents,
    calls: [{ call: `GET advisories/${ADVISORY}`, answer: { uid: ADVISORY } }],
    answer: { parentId: "", items: [] },
  },
  // Asked for by its path, unlike by a filter of a list: what is missing is missing.
  {
    ...listEvents,
    calls: [
      {
        call: `GET advisories/${ADVISORY}`,
        status: 404,
        answer: notFound("no such advisory"),
      },
    ],
    status: 404,
    answer: notFound("no such advisory"),
  },
  {
    of: "filters",
    v1: "advisoryIds=ADV-1&advisoryIds=ADV-2&legacyAdvisoryIds=OLD-1&aliases=CVE-2026-0001&origin=o",
    v2: "advisory_ids=ADV-1&advisory_ids=ADV-2&legacy_advisory_ids=OLD-1&aliases=CVE-2026-0001&origin=o",
  },
  {
    of: "filters",
    v1: "artifactType=package&artifact_name=openssl&artifactArchitecture=x86_64",
    v2: "artifact_types=package&artifact_names=openssl&artifact_architectures=x86_64",
  },
  {
    of: "filters",
    v1: "componentName=libssl&component_type=apk&componentLocation=%2Fusr%2Flib",
    v2: "component_names=libssl&component_types=apk&component_locations=%2Fusr%2Flib",
  },
  {
    of: "filters",
    v1: "eventStatuses=APPROVED&event_statuses=1&eventAuthor=a&eventReviewer=r&excludeEventAuthor=b",
    v2: "event_review_states=REVIEW_STATE_APPROVED&event_review_states=REVIEW_STATE_PENDING&event_authors=a&event_reviewers=r&exclude_event_authors=b",
  },
  {
    of: "filters",
    v1: "eventTypes=EVENT_TYPE_FILTER_FIXED&eventTypes=1&latestEventType=EVENT_TYPE_FILTER_PATCHED",
    v2: "event_types=EVENT_TYPE_FILTER_FIXED&event_types=EVENT_TYPE_FILTER_DETECTION&latest_event_type=EVENT_TYPE_FILTER_PATCHED",
  },
  {
    of: "filters",
    v1: `uidp.descendantsOf=${ORG}&orderBy=CREATED_AT_DESC&pageSize=20&pageToken=opaque`,
    v2: `uidp.descendants_of=${ORG}&order_by=created_at%20desc&page_size=20&page_token=opaque`,
  },
  { of: "filters", v1: "orderBy=ORDER_BY_UNSPECIFIED&latestEventType=0", v2: "" },
] as const satisfies readonly Example[];
