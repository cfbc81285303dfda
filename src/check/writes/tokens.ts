/** Does a page token remember a record or a row number? (A delete between two pages tells; design: drains.) */

import type { Config } from "../../config.ts";
import { type Finding, sayFor } from "../finding.ts";
import { readPage } from "../first-pages.ts";
import type { ScratchGroup } from "./scratch-group.ts";

const say = sayFor("tokens");
const PATH = "upstream.v2.tokens";
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
        say.skipped(
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
    return [say.skipped("new records are not listed at once, or a short page has no token", "check again, see lists")];
  }
  if (!(await scratch.remove(groups, gone))) return [say.skipped("a group could not be removed", "see write")];
  const next = await readPage(api, groups, { size: STEP, token }, within);
  const configured = config.upstream.v2.tokens;
  if (next?.uids[0] === third) return [keyset(configured)];
  if (next?.uids[0] === fourth) return [offset(configured)];
  return [
    say.warn(
      "the page behind a token begins somewhere else altogether",
      "somebody wrote at the same time, or the token restarted its list: check again, and ask the platform's operators",
    ),
  ];
}

type Configured = Config["upstream"]["v2"]["tokens"];

function keyset(configured: Configured): Finding {
  const what = "page tokens are positions in the order: a list read while others write loses nothing";
  if (configured === "keyset") return say.ok(what);
  return say.note(
    what,
    "once this is known, lists of more than 10,000 records are read with less work and proved complete",
    {
      path: PATH,
      value: "keyset",
    },
  );
}

function offset(configured: Configured): Finding {
  const what = "page tokens are row numbers: a list read by them while somebody deletes loses a record";
  const remedy = "once this is known, long lists are read through windows that overlap, wherever skip is honoured";
  const set = { path: PATH, value: "offset" };
  if (configured === "offset")
    return say.ok(
      "page tokens are row numbers: long lists are read through windows that overlap, where skip is honoured",
    );
  // A wrong `keyset` would call lists proved that are not.
  return configured === "keyset" ? say.fail(what, remedy, set) : say.warn(what, remedy, set);
}
