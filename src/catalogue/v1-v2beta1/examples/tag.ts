/** Examples of what v1 and v2 send: tags. */
import type { Example } from "../../../model/resource.ts";
import { CREATED, ORG_GROUP_QUERY, REPO, UPDATED } from "../../example-values.ts";

const TAG = `${REPO}/0f0f0f0f0f0f0f0f`;

const REPO_QUERY = REPO.replaceAll("/", "%2F");

const DIGEST = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

const timesV2 = { createTime: CREATED, updateTime: UPDATED };
const timesV1 = { lastUpdated: UPDATED, updatedAt: UPDATED, createdAt: CREATED };

export default [
  {
    of: "answer",
    operation: "list",
    v2: { uid: TAG, name: "1.2.3", digest: DIGEST, ...timesV2, deprecated: true, bundles: ["base", "fips"] },
    v1: { id: TAG, name: "1.2.3", digest: DIGEST, ...timesV1, deprecated: true, bundles: ["base", "fips"] },
  },
  {
    of: "answer",
    operation: "list",
    v2: { uid: TAG, name: "latest" },
    v1: { id: TAG, name: "latest", digest: "", lastUpdated: null, deprecated: false, bundles: [] },
  },
  {
    of: "body",
    operation: "create",
    v1: { id: TAG, name: "1.2.3", digest: DIGEST, bundles: ["base"] },
    v2: { name: "1.2.3", digest: DIGEST, bundles: ["base"] },
  },
  // Another write of the same name; what v2 needs and the client left out is what is stored.
  {
    of: "exchange",
    operation: "update",
    path: `tags/${TAG}`,
    body: { name: "1.2.3", deprecated: true },
    calls: [
      { call: `GET tags/${TAG}`, answer: { uid: TAG, name: "1.2.3", digest: DIGEST, bundles: ["base"] } },
      {
        call: `POST tags/${REPO}`,
        body: { digest: DIGEST, name: "1.2.3", deprecated: true, bundles: [] },
        answer: { uid: TAG, name: "1.2.3", digest: DIGEST, deprecated: true, updateTime: UPDATED },
      },
    ],
    answer: {
      id: TAG,
      name: "1.2.3",
      digest: DIGEST,
      lastUpdated: UPDATED,
      updatedAt: UPDATED,
      deprecated: true,
      bundles: [],
    },
  },
  // 1.2.10 is later than 1.2.9; the tag that was updated last is another one.
  {
    of: "exchange",
    operation: "summarise",
    path: `repotagssummary/${REPO}?excludeDates=true`,
    calls: [
      {
        call: `GET tags?include_referrers=true&include_dates=false&include_epochs=true&uidp.children_of=${REPO_QUERY}&page_size=200`,
        answer: {
          tags: [
            { uid: `${REPO}/0000000000000001`, name: "1.2.10", digest: DIGEST, updateTime: CREATED },
            { uid: `${REPO}/0000000000000002`, name: "1.2.9", digest: DIGEST, updateTime: CREATED },
            { uid: TAG, name: "latest", digest: DIGEST, ...timesV2, deprecated: false, bundles: ["base"] },
          ],
        },
      },
    ],
    answer: {
      id: REPO,
      tagCount: "3",
      lastUpdated: UPDATED,
      latestTag: { id: TAG, name: "latest", digest: DIGEST, ...timesV1, deprecated: false, bundles: ["base"] },
      latestVersion: "1.2.10",
    },
  },
  // A repo without tags, or one that is not there, or not for this caller.
  {
    of: "exchange",
    operation: "summarise",
    path: `repotagssummary/${REPO}`,
    calls: [
      {
        call: `GET tags?include_referrers=true&include_dates=true&include_epochs=true&uidp.children_of=${REPO_QUERY}&page_size=200`,
        answer: { tags: [] },
      },
    ],
    answer: { id: REPO, tagCount: "0", lastUpdated: null, latestTag: null, latestVersion: "" },
  },
  {
    of: "filters",
    v1: `uidp.children_of=${ORG_GROUP_QUERY}&name=latest`,
    v2: `uidp.children_of=${ORG_GROUP_QUERY}&name=latest&include_referrers=true&include_dates=true&include_epochs=true`,
  },
  {
    of: "filters",
    v1: "excludeReferrers=true&exclude_dates=false&exclude_epochs=true&digest=sha256%3A2c26",
    v2: "digest=sha256%3A2c26&include_referrers=false&include_dates=true&include_epochs=false",
  },
  {
    of: "filters",
    v1: "updatedSince=2026-03-01T09%3A30%3A00Z",
    v2: "updated_since=2026-03-01T09%3A30%3A00Z&include_referrers=true&include_dates=true&include_epochs=true",
  },
] as const satisfies readonly Example[];
