/** How does native v1 show and write repos, readme and all? (Field map 2.11, traps T05 to T12.) */

import { type Json, type JsonObject, member } from "../json.ts";
import { repos, SYNCED_FIELDS } from "../resources/repos.ts";
import type { Draft } from "../resources/resource.ts";
import type { StoredRecord } from "../store/collection.ts";
import { nameTest } from "../store/select.ts";
import type { V1Face } from "./face.ts";
import { overlayFromV1, overlayToV1 } from "./overlay.ts";
import { keep, pick, times } from "./shape.ts";

/** v1 counts its tiers from 4 where v2 counts from 1. */
const TIER_SHIFT = 3;
const SAME = ["name", "description", "bundles", "aliases", "activeTags"] as const;
const SYNC_TO_V1: readonly (readonly [string, string])[] = [
  ["source", "source"],
  ["uniqueTags", "uniqueTags"],
  ["expirationTime", "expiration"],
  ["google", "google"],
  ["amazon", "amazon"],
  ["azure", "azure"],
  ["apkoOverlay", "apkoOverlay"],
  ["gracePeriod", "gracePeriod"],
];

function viewSync(record: StoredRecord): JsonObject {
  const sync = member(record.value, "sync_config");
  if (sync === undefined) return {};
  return { sync_config: { ...pick(sync, SYNC_TO_V1), ...keep(record.extra, ["syncApks"]) } };
}

function viewRepo(record: StoredRecord): JsonObject {
  const tier = Number(member(record.value, "catalogTier") ?? 0);
  const overlay = member(record.value, "customOverlay");
  return {
    id: record.uid,
    ...keep(record.value, [...SAME, "createTime"]),
    ...times(record.value),
    ...(tier === 0 ? {} : { catalogTier: tier + TIER_SHIFT }),
    readme: member(record.extra, "readme") ?? "",
    ...viewSync(record),
    ...(overlay === undefined ? {} : { customOverlay: overlayToV1(overlay) }),
  };
}

/**
 * A full replace. What only the platform sets is ignored. On a repo that stays synced, silence about what the source
 * decides is no request to change it.
 */
function readRepo(given: JsonObject, before: StoredRecord | undefined): Draft {
  const tier = Number(member(given, "catalogTier") ?? 0);
  const value: JsonObject = { ...keep(given, SAME), ...keep(before?.value, ["createTime"]) };
  if (tier > TIER_SHIFT) value["catalogTier"] = tier - TIER_SHIFT;
  const sync = member(given, "sync_config");
  if (sync !== undefined) value["sync_config"] = keep(sync, ["source", "google", "amazon", "azure"]);
  const overlay = member(given, "customOverlay");
  if (overlay !== undefined) value["customOverlay"] = overlayFromV1(overlay);
  if (sync !== undefined && member(before?.value, "sync_config") !== undefined) {
    for (const key of SYNCED_FIELDS) if (isSilent(value[key])) Object.assign(value, keep(before?.value, [key]));
  }
  return { value, extra: extraOf(given, before) };
}

function isSilent(value: Json | undefined): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

/** What v2 does not show: the readme, a setting that v2 no longer has, and what the platform alone knows. */
function extraOf(given: JsonObject, before: StoredRecord | undefined): JsonObject {
  const { readme: _readme, syncApks: _apks, ...rest } = before?.extra ?? {};
  const readme = member(given, "readme") ?? "";
  const apks = member(member(given, "sync_config"), "syncApks") === true;
  return { ...rest, ...(readme === "" ? {} : { readme }), ...(apks ? { syncApks: true } : {}) };
}

export const reposV1: V1Face = {
  resource: repos,
  domain: "registry",
  collection: "repos",
  operations: ["list", "create", "update", "delete"],
  filter: "RepoFilter",
  item: "Repo",
  view: viewRepo,
  tests: nameTest,
  key: "id",
  write: {
    message: "Repo",
    read: readRepo,
    answer: "Repo",
    view: viewRepo,
    upserts: { request: "CreateRepoRequest", refuse: "preventExisting" },
  },
};
