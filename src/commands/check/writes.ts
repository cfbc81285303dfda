/** Probes that write, in one fresh group below the one that the operator named. Everything is removed afterwards. */

import type { Config } from "../../config/config.ts";
import { PAGE_SIZE } from "../../drain/limits.ts";
import { isJsonObject, member } from "../../model/json.ts";
import { isUid, parentOf } from "../../model/uid.ts";
import { counted } from "../../rules/words.ts";
import { type Finding, fail, findingsOf, type Judgement, note, ok, skipped, warn } from "./finding.ts";
import { type PlatformApi, type PlatformList, type PlatformResponse, readPage, shownStatus } from "./platform.ts";

interface ScratchParts {
  readonly api: PlatformApi;
  readonly groups: PlatformList;
  readonly identities: PlatformList;
  /** Group of the operator's choice. */
  readonly under: string;
  /** Fresh for every check, so that nothing else has it. */
  readonly name: string;
}

/** The group of the probes. */
interface ScratchGroup extends Pick<ScratchParts, "api" | "groups" | "identities"> {
  readonly uid: string;
}

/** The uid of the group that was created. `refused`: there is none. `unanswered`: unknown. */
type GroupCreation = { readonly uid: string } | "refused" | "unanswered";

/**
 * Runs `work` in a group of its own and removes what is in that group afterwards, also when `work` throws or was stopped:
 * `cleaner` does not stop. Records whose creation got no response are found by listing the group.
 */
export async function inScratchGroup(
  parts: ScratchParts,
  cleaner: PlatformApi,
  work: (scratch: ScratchGroup) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const { api, groups, identities, under, name } = parts;
  const findings: Finding[] = [];
  const add = (judgement: Judgement) => findings.push(...findingsOf("write", judgement));
  if (!isUid(under)) {
    add(fail("--write-under is no uid of a group", "give the uid of a group in which a test may write"));
    return findings;
  }
  let creation: GroupCreation = "unanswered";
  try {
    const created = await api.write("POST", `${groups.path}/${under}`, {
      name,
      description: "made by carryover check",
    });
    const uid = uidOf(created);
    // The name proves that the group is ours to empty: a platform may respond with a group that was there before.
    if (uid === undefined || parentOf(uid) !== under || member(created.json, "name") !== name) {
      creation = created.status >= 500 || created.status < 300 ? "unanswered" : "refused";
      const remedy = "name a group in which this credential may create groups and identities";
      add(fail(`no group can be made there (${shownStatus(created)})`, remedy));
    } else {
      creation = { uid };
      findings.push(...(await work({ uid, api, groups, identities })));
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : "stopped";
    add(fail(`the check of writing broke off (${why})`, "check again"));
  }
  if (creation !== "refused") add(await removeAll(parts, creation, cleaner));
  return findings;
}

/** Removes what the platform lists: carryover does not know the uid of a record whose creation got no response. */
async function removeAll(
  { groups, identities, under, name }: ScratchParts,
  creation: Exclude<GroupCreation, "refused">,
  api: PlatformApi,
): Promise<Judgement> {
  const left: string[] = [];
  let removed = 0;
  const remove = async (list: PlatformList, uid: string) => {
    if (await removeRecord(api, list, uid)) removed++;
    else left.push(uid);
  };
  const ours = creation === "unanswered" ? await childrenOf(under, groups, api, name) : [creation.uid];
  for (const scratch of ours) {
    for (const list of [identities, groups]) {
      for (const uid of await childrenOf(scratch, list, api)) await remove(list, uid);
    }
    await remove(groups, scratch);
  }
  if (left.length > 0)
    return fail(`left behind: ${left.join(", ")}`, "remove it by hand: records in a group first, then the group");
  if (removed > 0) return ok(`nothing is left of it: ${counted(removed, "record")} removed`);
  return warn(`the creation of ${name} was never answered`, `look whether there is a group called ${name} in ${under}`);
}

/**
 * Uids of the records directly in `parent`, those called `name` when it is given. Only uids, since they go into paths that
 * are deleted. Empty also when the platform does not say: then the group itself cannot be removed, and that is reported.
 */
async function childrenOf(
  parent: string,
  list: PlatformList,
  api: PlatformApi,
  name?: string,
): Promise<readonly string[]> {
  const params = [`uidp.children_of=${encodeURIComponent(parent)}`, ...(name === undefined ? [] : [`name=${name}`])];
  const page = await readPage(api, list, { size: PAGE_SIZE }, params).catch(() => undefined);
  return (page?.records ?? [])
    .filter((record) => name === undefined || record["name"] === name)
    .map((record) => String(record["uid"]))
    .filter((uid) => isUid(uid) && parentOf(uid) === parent);
}

/** Repeats a delete that fails: the repeat finds the record or does not, and both are good. */
async function removeRecord(api: PlatformApi, list: PlatformList, uid: string): Promise<boolean> {
  for (let tries = 0; tries < 3; tries++) {
    const response = await api.write("DELETE", `${list.path}/${uid}`).catch(() => undefined);
    if (response !== undefined && isGone(response)) return true;
  }
  return false;
}

function isGone({ status }: PlatformResponse): boolean {
  return (status >= 200 && status < 300) || status === 404;
}

function uidOf({ status, json }: PlatformResponse): string | undefined {
  if ((status !== 200 && status !== 201) || !isJsonObject(json)) return undefined;
  const uid = json["uid"];
  return typeof uid === "string" && isUid(uid) ? uid : undefined;
}

/** Matches no claim, so nobody can assume the identity. */
const NOBODY = { issuer: "https://carryover-check.invalid", subject: "nobody" };

/** A group's fields are spelled alike in both. The cheapest field that is not is an identity's `claimMatch`. */
export async function checkMask(scratch: ScratchGroup, config: Config): Promise<readonly Judgement[]> {
  const { api, identities, uid } = scratch;
  const cleared = await checkClearing(scratch);
  const body = { name: "carryover-check", description: "", claimMatch: NOBODY };
  const identity = uidOf(await api.write("POST", `${identities.path}/${uid}`, body));
  if (identity === undefined) {
    const remedy = "name a group in which this credential may create identities";
    return [cleared, skipped("no identity can be made to try it with", remedy)];
  }
  const camel = await tryMask(scratch, identity, "claimMatch", "camel");
  const snake = await tryMask(scratch, identity, "claim_match", "snake");
  return [cleared, judgeMask(config.upstream.v2.maskSpelling, camel, snake)];
}

/** A v1 PUT that omits a field clears it by naming it in the mask, with its zero in the body. */
async function checkClearing({ api, groups, uid }: ScratchGroup): Promise<Judgement> {
  const response = await api.write("PATCH", `${groups.path}/${uid}?updateMask=description`, { description: "" });
  if (response.status !== 200)
    return fail(`an update is refused (${shownStatus(response)})`, "see whether this credential may update groups");
  const stored = member(response.json, "description") ?? "";
  if (stored === "") return ok("a field that is named with its zero is cleared");
  return fail(
    "a field that is named with its zero keeps its value",
    "v1 updates would be answered UPDATE_INCOMPLETE: have the platform's operators look at it",
  );
}

interface MaskAttempt {
  readonly status: string;
  /** Not only answered 200, but stored. */
  readonly accepted: boolean;
}

async function tryMask(
  { api, identities }: ScratchGroup,
  uid: string,
  mask: string,
  subject: string,
): Promise<MaskAttempt> {
  const target = `${identities.path}/${uid}?updateMask=${mask}`;
  const response = await api.write("PATCH", target, { claimMatch: { ...NOBODY, subject } });
  const stored = member(member(response.json, "claimMatch"), "subject");
  return { status: shownStatus(response), accepted: response.status === 200 && stored === subject };
}

function judgeMask(configured: string, camel: MaskAttempt, snake: MaskAttempt): Judgement {
  const seen = `claimMatch: ${camel.status}; claim_match: ${snake.status}`;
  if (camel.accepted && snake.accepted) return ok(`both spellings are taken; ${configured} is right`);
  if (!camel.accepted && !snake.accepted) {
    const remedy = "v1 updates would fail: see whether this credential may update identities";
    return fail(`neither spelling is taken (${seen})`, remedy);
  }
  const right = camel.accepted ? "camelCase" : "snake_case";
  const what = `only ${right} is taken (${seen})`;
  if (configured === right) return ok(what);
  const set = { path: "upstream.v2.maskSpelling", value: right };
  if (configured === "auto")
    return note(what, "auto learns it by a first call that is refused; this spares that call", set);
  return fail(what, "v1 updates are refused with the spelling that is set", set);
}

const GROUPS = 5;
const TOKEN_PAGE = 2;

/**
 * Five groups, pages of two. The first group of the first page is removed before the second page is read: a token that
 * remembers a record leads to the third group, one that remembers a row number to the fourth.
 */
export async function checkTokens({ api, groups, uid }: ScratchGroup, config: Config): Promise<Judgement> {
  for (let number = 1; number <= GROUPS; number++) {
    const body = { name: `carryover-check-${number}`, description: "" };
    if (uidOf(await api.write("POST", `${groups.path}/${uid}`, body)) !== undefined) continue;
    const remedy = "name a group in which this credential may create groups";
    return skipped("not enough groups can be made to try it with", remedy);
  }
  const within = [`uidp.children_of=${encodeURIComponent(uid)}`];
  const all = await readPage(api, groups, { size: PAGE_SIZE }, within);
  const first = await readPage(api, groups, { size: TOKEN_PAGE }, within);
  const [gone, , third, fourth] = all?.uids ?? [];
  const token = first?.nextPageToken ?? "";
  if (all?.uids.length !== GROUPS || token === "" || first?.uids[0] !== gone || gone === undefined)
    return skipped("new records are not listed at once, or a short page has no token", "check again, see lists");
  if (!isGone(await api.write("DELETE", `${groups.path}/${gone}`)))
    return skipped("a group could not be removed", "see write");
  const next = await readPage(api, groups, { size: TOKEN_PAGE, token }, within);
  return judgeTokens(
    config.upstream.v2.pageTokens,
    next?.uids[0] === third ? "keyset" : next?.uids[0] === fourth ? "offset" : "unknown",
  );
}

function judgeTokens(configured: string, found: "keyset" | "offset" | "unknown"): Judgement {
  const set = { path: "upstream.v2.pageTokens", value: found };
  switch (found) {
    case "keyset": {
      const what = "page tokens are positions in the order: a list read while others write loses nothing";
      const remedy =
        "once this is known, lists of more than 10,000 records are read with less work and proved complete";
      return configured === "keyset" ? ok(what) : note(what, remedy, set);
    }
    case "offset": {
      const what = "page tokens are row numbers: a list read by them while somebody deletes loses a record";
      const remedy = "once this is known, long lists are read through windows that overlap, wherever skip is honoured";
      if (configured === "offset")
        return ok(
          "page tokens are row numbers: long lists are read through windows that overlap, where skip is honoured",
        );
      // A wrong `keyset` would call lists proved that are not.
      return configured === "keyset" ? fail(what, remedy, set) : warn(what, remedy, set);
    }
    default:
      return warn(
        "a token leads to a page that begins somewhere else altogether",
        "somebody wrote at the same time, or the token restarted its list: check again, and ask the platform's operators",
      );
  }
}
