/** Where may a probe write, and is everything gone afterwards? (One group below the one that the operator named.) */
import { member } from "../../model/json.ts";
import { isUid, parentOf } from "../../model/uid.ts";
import type { Answer, Api } from "../api.ts";
import { shownStatus } from "../api.ts";
import { type Finding, sayFor } from "../finding.ts";
import { type List, readPage } from "../first-pages.ts";

const say = sayFor("write");

/** The probes' own group, and the way to make records in it. */
export interface ScratchGroup {
  readonly uid: string;
  readonly groups: List;
  readonly identities: List;
  readonly api: Api;
  /** Creates a record directly in the group. Undefined when the platform refuses; throws what `Api` throws. */
  create(
    list: List,
    body: Readonly<Record<string, string | Readonly<Record<string, string>>>>,
  ): Promise<string | undefined>;
  remove(list: List, uid: string): Promise<boolean>;
}

export interface ScratchParts {
  readonly api: Api;
  readonly groups: List;
  readonly identities: List;
  /** Group of the operator's choice. */
  readonly under: string;
  /** Fresh at every check, so that nothing else has it. */
  readonly name: string;
}

/**
 * Runs `work` in a group of its own and removes whatever is in that group afterwards, also when `work` throws or was
 * stopped: `cleaner` is not. Records whose creation was never answered are found by listing the group.
 */
export async function inScratchGroup(
  parts: ScratchParts,
  cleaner: Api,
  work: (scratch: ScratchGroup) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const { api, groups, identities, under, name } = parts;
  if (!isUid(under))
    return [say.fail("--write-under is no uid of a group", "give the uid of a group in which a test may write")];
  const target = `${groups.path}/${under}`;
  const findings: Finding[] = [];
  let creation: Creation = "unanswered";
  try {
    const made = await api.write("POST", target, { name, description: "made by carryover check" });
    const uid = uidOf(made);
    // What is emptied afterwards must be ours by its name too: a platform may answer with a group that was there before.
    if (uid === undefined || parentOf(uid) !== under || member(made.json, "name") !== name) {
      creation = made.status >= 500 || made.status < 300 ? "unanswered" : "refused";
      findings.push(
        say.fail(
          `no group can be made there (${shownStatus(made)})`,
          "name a group in which this credential may create groups and identities",
        ),
      );
    } else {
      creation = { made: uid };
      findings.push(...(await work(scratchAt(uid, { api, groups, identities }))));
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : "stopped";
    findings.push(say.fail(`the check of writing broke off (${why})`, "check again"));
  }
  return [...findings, ...(await emptied(parts, creation, cleaner))];
}

function scratchAt(
  uid: string,
  { api, groups, identities }: Pick<ScratchGroup, "api" | "groups" | "identities">,
): ScratchGroup {
  return {
    uid,
    groups,
    identities,
    api,
    create: async (list, body) => uidOf(await api.write("POST", `${list.path}/${uid}`, body)),
    remove: async (list, child) => isGone(await api.write("DELETE", `${list.path}/${child}`)),
  };
}

/** Made: the group's uid. Refused: there is none. Unanswered: nobody knows. */
type Creation = { readonly made: string } | "refused" | "unanswered";

/** What is there is what has to go: records whose creation was never answered are in no memory. */
async function emptied(parts: ScratchParts, creation: Creation, api: Api): Promise<readonly Finding[]> {
  if (creation === "refused") return [];
  const { groups, identities, under, name } = parts;
  const left: string[] = [];
  let removed = 0;
  const remove = async (list: List, uid: string) => {
    if (await gone(api, list, uid)) removed++;
    else left.push(uid);
  };
  const ours = typeof creation === "object" ? [creation.made] : await scratchGroupsCalled(parts, api);
  for (const scratch of ours) {
    for (const list of [identities, groups]) {
      for (const uid of await childrenOf(scratch, list, api)) await remove(list, uid);
    }
    await remove(groups, scratch);
  }
  if (left.length > 0) {
    return [say.fail(`left behind: ${left.join(", ")}`, "remove it by hand: records in a group first, then the group")];
  }
  if (removed > 0) return [say.ok(`nothing is left of it: ${removed} ${removed === 1 ? "record" : "records"} removed`)];
  return [
    say.warn(`the creation of ${name} was never answered`, `look whether there is a group called ${name} in ${under}`),
  ];
}

/** By the name that nothing else has; empty also when the platform does not say. */
async function scratchGroupsCalled({ groups, under, name }: ScratchParts, api: Api): Promise<readonly string[]> {
  const params = [`uidp.children_of=${encodeURIComponent(under)}`, `name=${name}`];
  const page = await readPage(api, groups, { size: 200 }, params).catch(() => undefined);
  const called = (page?.records ?? []).filter((record) => record["name"] === name);
  return called.map((record) => String(record["uid"])).filter((uid) => isChild(uid, under));
}

/** Empty also when the platform does not say: then the group itself cannot be removed, and that is told. */
async function childrenOf(scratch: string, list: List, api: Api): Promise<readonly string[]> {
  const params = [`uidp.children_of=${encodeURIComponent(scratch)}`];
  const page = await readPage(api, list, { size: 200 }, params).catch(() => undefined);
  return (page?.uids ?? []).filter((uid) => isChild(uid, scratch));
}

/** A uid and no other text: it goes into a path that is deleted. */
function isChild(uid: string, parent: string): boolean {
  return isUid(uid) && parentOf(uid) === parent;
}

/** A delete may meet a moment of trouble: its repeat finds the record or does not, and either is well. */
async function gone(api: Api, list: List, uid: string): Promise<boolean> {
  const target = `${list.path}/${uid}`;
  for (let tries = 0; tries < 3; tries++) {
    const answer = await api.write("DELETE", target).catch(() => undefined);
    if (answer !== undefined && isGone(answer)) return true;
  }
  return false;
}

function isGone({ status }: Answer): boolean {
  return (status >= 200 && status < 300) || status === 404;
}

function uidOf({ status, json }: Answer): string | undefined {
  if (status !== 200 && status !== 201) return undefined;
  const uid = typeof json === "object" && json !== null && !Array.isArray(json) ? json["uid"] : undefined;
  return typeof uid === "string" && isUid(uid) ? uid : undefined;
}
