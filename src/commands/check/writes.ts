/** Where may a probe write, and is everything gone afterwards? (One group below the one that the operator named.) */

import type { Config } from "../../config/config.ts";
import { member } from "../../model/json.ts";
import { isUid, parentOf } from "../../model/uid.ts";
import { type Finding, findingsFor } from "./finding.ts";
import { type PlatformAnswer, type PlatformApi, type PlatformList, readPage, shownStatus } from "./platform.ts";

const writeFinding = findingsFor("write");

/** The probes' own group, and the way to make records in it. */
export interface ScratchGroup {
  readonly uid: string;
  readonly groups: PlatformList;
  readonly identities: PlatformList;
  readonly api: PlatformApi;
  /** Creates a record directly in the group. Undefined when the platform refuses; throws what `Api` throws. */
  create(
    list: PlatformList,
    body: Readonly<Record<string, string | Readonly<Record<string, string>>>>,
  ): Promise<string | undefined>;
  remove(list: PlatformList, uid: string): Promise<boolean>;
}

export interface ScratchParts {
  readonly api: PlatformApi;
  readonly groups: PlatformList;
  readonly identities: PlatformList;
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
  cleaner: PlatformApi,
  work: (scratch: ScratchGroup) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const { api, groups, identities, under, name } = parts;
  if (!isUid(under))
    return [
      writeFinding.fail("--write-under is no uid of a group", "give the uid of a group in which a test may write"),
    ];
  const target = `${groups.path}/${under}`;
  const findings: Finding[] = [];
  let creation: GroupCreation = "unanswered";
  try {
    const made = await api.write("POST", target, { name, description: "made by carryover check" });
    const uid = uidOf(made);
    // What is emptied afterwards must be ours by its name too: a platform may answer with a group that was there before.
    if (uid === undefined || parentOf(uid) !== under || member(made.json, "name") !== name) {
      creation = made.status >= 500 || made.status < 300 ? "unanswered" : "refused";
      findings.push(
        writeFinding.fail(
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
    findings.push(writeFinding.fail(`the check of writing broke off (${why})`, "check again"));
  }
  return [...findings, ...(await removeAll(parts, creation, cleaner))];
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
type GroupCreation = { readonly made: string } | "refused" | "unanswered";

/** What is there is what has to go: records whose creation was never answered are in no memory. */
async function removeAll(parts: ScratchParts, creation: GroupCreation, api: PlatformApi): Promise<readonly Finding[]> {
  if (creation === "refused") return [];
  const { groups, identities, under, name } = parts;
  const left: string[] = [];
  let removed = 0;
  const remove = async (list: PlatformList, uid: string) => {
    if (await removeRecord(api, list, uid)) removed++;
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
    return [
      writeFinding.fail(
        `left behind: ${left.join(", ")}`,
        "remove it by hand: records in a group first, then the group",
      ),
    ];
  }
  if (removed > 0)
    return [writeFinding.ok(`nothing is left of it: ${removed} ${removed === 1 ? "record" : "records"} removed`)];
  return [
    writeFinding.warn(
      `the creation of ${name} was never answered`,
      `look whether there is a group called ${name} in ${under}`,
    ),
  ];
}

/** By the name that nothing else has; empty also when the platform does not say. */
async function scratchGroupsCalled(
  { groups, under, name }: ScratchParts,
  api: PlatformApi,
): Promise<readonly string[]> {
  const params = [`uidp.children_of=${encodeURIComponent(under)}`, `name=${name}`];
  const page = await readPage(api, groups, { size: 200 }, params).catch(() => undefined);
  const called = (page?.records ?? []).filter((record) => record["name"] === name);
  return called.map((record) => String(record["uid"])).filter((uid) => isChild(uid, under));
}

/** Empty also when the platform does not say: then the group itself cannot be removed, and that is told. */
async function childrenOf(scratch: string, list: PlatformList, api: PlatformApi): Promise<readonly string[]> {
  const params = [`uidp.children_of=${encodeURIComponent(scratch)}`];
  const page = await readPage(api, list, { size: 200 }, params).catch(() => undefined);
  return (page?.uids ?? []).filter((uid) => isChild(uid, scratch));
}

/** A uid and no other text: it goes into a path that is deleted. */
function isChild(uid: string, parent: string): boolean {
  return isUid(uid) && parentOf(uid) === parent;
}

/** A delete may meet a moment of trouble: its repeat finds the record or does not, and either is well. */
async function removeRecord(api: PlatformApi, list: PlatformList, uid: string): Promise<boolean> {
  const target = `${list.path}/${uid}`;
  for (let tries = 0; tries < 3; tries++) {
    const answer = await api.write("DELETE", target).catch(() => undefined);
    if (answer !== undefined && isGone(answer)) return true;
  }
  return false;
}

function isGone({ status }: PlatformAnswer): boolean {
  return (status >= 200 && status < 300) || status === 404;
}

function uidOf({ status, json }: PlatformAnswer): string | undefined {
  if (status !== 200 && status !== 201) return undefined;
  const uid = typeof json === "object" && json !== null && !Array.isArray(json) ? json["uid"] : undefined;
  return typeof uid === "string" && isUid(uid) ? uid : undefined;
}

/** How does v2 want the fields of an update spelt, and does it clear what is to become zero? */

const maskFinding = findingsFor("mask");
const MASK_SPELLING = "upstream.v2.maskSpelling";

/** No claim of anybody matches it: the identity can be assumed by nobody. */
const NOBODY = { issuer: "https://carryover-check.invalid", subject: "nobody" };

/** A group's fields are spelt alike in both; the cheapest field that is not is an identity's `claimMatch`. */
export async function checkMask(scratch: ScratchGroup, config: Config): Promise<readonly Finding[]> {
  const findings = [await clears(scratch)];
  const uid = await scratch.create(scratch.identities, {
    name: "carryover-check",
    description: "",
    claimMatch: NOBODY,
  });
  if (uid === undefined) {
    return [
      ...findings,
      maskFinding.skipped(
        "no identity can be made to try it with",
        "name a group in which this credential may create identities",
      ),
    ];
  }
  const camel = await takes(scratch, uid, "claimMatch", "camel");
  const snake = await takes(scratch, uid, "claim_match", "snake");
  return [...findings, judgeMask(config.upstream.v2.maskSpelling, camel, snake)];
}

interface MaskAttempt {
  readonly answer: PlatformAnswer;
  readonly taken: boolean;
}

/** Taken: not only answered 200, but stored. */
async function takes(
  { api, identities }: ScratchGroup,
  uid: string,
  mask: string,
  subject: string,
): Promise<MaskAttempt> {
  const target = `${identities.path}/${uid}?updateMask=${mask}`;
  const answer = await api.write("PATCH", target, { claimMatch: { ...NOBODY, subject } });
  const stored = member(member(answer.json, "claimMatch"), "subject");
  return { answer, taken: answer.status === 200 && stored === subject };
}

function judgeMask(configured: string, camel: MaskAttempt, snake: MaskAttempt): Finding {
  const seen = `claimMatch: ${shownStatus(camel.answer)}; claim_match: ${shownStatus(snake.answer)}`;
  if (camel.taken && snake.taken) return maskFinding.ok(`both spellings are taken; ${configured} is right`);
  if (!camel.taken && !snake.taken) {
    return maskFinding.fail(
      `neither spelling is taken (${seen})`,
      "v1 updates would fail: see whether this credential may update identities",
    );
  }
  const right = camel.taken ? "camelCase" : "snake_case";
  const what = `only ${right} is taken (${seen})`;
  if (configured === right) return maskFinding.ok(what);
  const set = { path: MASK_SPELLING, value: right };
  if (configured === "auto")
    return maskFinding.note(what, "auto learns it by a first call that is refused; this spares that call", set);
  return maskFinding.fail(what, "v1 updates are refused with the spelling that is set", set);
}

/** A v1 PUT that leaves a field out clears it by naming it with its zero. */
async function clears({ api, groups, uid }: ScratchGroup): Promise<Finding> {
  const answer = await api.write("PATCH", `${groups.path}/${uid}?updateMask=description`, { description: "" });
  if (answer.status !== 200)
    return maskFinding.fail(
      `an update is refused (${shownStatus(answer)})`,
      "see whether this credential may update groups",
    );
  const stored = member(answer.json, "description") ?? "";
  if (stored === "") return maskFinding.ok("a field that is named with its zero is cleared");
  return maskFinding.fail(
    "a field that is named with its zero keeps its value",
    "v1 updates would be answered UPDATE_INCOMPLETE: have the platform's operators look at it",
  );
}

/** Does a page token remember a record or a row number? (A delete between two pages tells; design: drains.) */

const tokensFinding = findingsFor("tokens");
const TOKENS_OPTION = "upstream.v2.pageTokens";
const GROUPS = 5;
const STEP = 2;

/**
 * Five groups, pages of two. The first group of the first page is removed before the second page is read: a token that
 * remembers a record leads to the third group, one that remembers a row number to the fourth.
 */
export async function checkTokens(scratch: ScratchGroup, config: Config): Promise<readonly Finding[]> {
  const { api, groups, uid } = scratch;
  for (let made = 1; made <= GROUPS; made++) {
    const child = await scratch.create(groups, { name: `carryover-check-${made}`, description: "" });
    if (child === undefined)
      return [
        tokensFinding.skipped(
          "not enough groups can be made to try it with",
          "name a group in which this credential may create groups",
        ),
      ];
  }
  const within = [`uidp.children_of=${encodeURIComponent(uid)}`];
  const all = await readPage(api, groups, { size: 200 }, within);
  const first = await readPage(api, groups, { size: STEP }, within);
  const [gone, , third, fourth] = all?.uids ?? [];
  const token = first?.nextPageToken ?? "";
  if (all?.uids.length !== GROUPS || token === "" || first?.uids[0] !== gone || gone === undefined) {
    return [
      tokensFinding.skipped(
        "new records are not listed at once, or a short page has no token",
        "check again, see lists",
      ),
    ];
  }
  if (!(await scratch.remove(groups, gone)))
    return [tokensFinding.skipped("a group could not be removed", "see write")];
  const next = await readPage(api, groups, { size: STEP, token }, within);
  const configured = config.upstream.v2.pageTokens;
  if (next?.uids[0] === third) return [keyset(configured)];
  if (next?.uids[0] === fourth) return [offset(configured)];
  return [
    tokensFinding.warn(
      "the page behind a token begins somewhere else altogether",
      "somebody wrote at the same time, or the token restarted its list: check again, and ask the platform's operators",
    ),
  ];
}

type Configured = Config["upstream"]["v2"]["pageTokens"];

function keyset(configured: Configured): Finding {
  const what = "page tokens are positions in the order: a list read while others write loses nothing";
  if (configured === "keyset") return tokensFinding.ok(what);
  return tokensFinding.note(
    what,
    "once this is known, lists of more than 10,000 records are read with less work and proved complete",
    {
      path: TOKENS_OPTION,
      value: "keyset",
    },
  );
}

function offset(configured: Configured): Finding {
  const what = "page tokens are row numbers: a list read by them while somebody deletes loses a record";
  const remedy = "once this is known, long lists are read through windows that overlap, wherever skip is honoured";
  const set = { path: TOKENS_OPTION, value: "offset" };
  if (configured === "offset")
    return tokensFinding.ok(
      "page tokens are row numbers: long lists are read through windows that overlap, where skip is honoured",
    );
  // A wrong `keyset` would call lists proved that are not.
  return configured === "keyset" ? tokensFinding.fail(what, remedy, set) : tokensFinding.warn(what, remedy, set);
}
