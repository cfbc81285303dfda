/** v1 calls that list repos. Their records show a readme, which v2 keeps elsewhere. */
import { at, get, repoId, rootId, type Scenario, scenario, syncedRepoId } from "./call.ts";
import { callers, ids, MISSING, names, places } from "./words.ts";

const REPOS = "/registry/v1/repos";

export const readingRepos: readonly Scenario[] = [
  scenario("lists of repos", [
    ...callers(REPOS),
    ...ids(REPOS),
    ...places(REPOS),
    ...names(REPOS),
    get("more than 200", REPOS, { items: "over 200" }),
    get("one with a readme", at(`${REPOS}?id=`, repoId), { items: 1 }),
    get("one that is synced", at(`${REPOS}?id=`, syncedRepoId), { items: 1 }),
    get("one with a readme, as a viewer", at(`${REPOS}?id=`, repoId), { as: "viewer", items: 1 }),
    get("paging parameters do nothing", `${REPOS}?page_size=1&skip=3&order_by=name%20desc&page_token=x`, {
      items: "over 200",
    }),
    get("v1 has no filter by tier", `${REPOS}?catalogTier=BASE`, { items: "over 200" }),
    get("by a name in another place", `${REPOS}?name=busybox-0&uidp.children_of=${MISSING}`, { items: 0 }),
    get("by a name below the root", at(`${REPOS}?name=busybox-0&uidp.descendants_of=`, rootId), { items: 1 }),
  ]),
];
