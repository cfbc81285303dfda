import { expect, test } from "vitest";
import type { Json } from "../../../src/model/json.ts";
import { at, items, type Platform, platform, refusal } from "./support.ts";

const here = platform();
const { fullRepo } = here.known;
const REPOS = "/registry/v1/repos";

/** The full repo as v1 shows it. What v2 no longer has is made equal. */
async function shownRepo(own: Platform): Promise<Json> {
  const [shown] = items(await own.ask("GET", `${REPOS}?id=${fullRepo}`));
  return shown ?? null;
}

test("TRAP-06: sync_config keeps its spelling both ways, and its members theirs", async () => {
  const own = platform({}, { maskSpelling: "snake_case" });
  const shown = await shownRepo(own);
  expect(at(shown, "sync_config.gracePeriod")).toBe(true);
  expect(shown).not.toHaveProperty("syncConfig");
  const changed = { ...(shown as object), sync_config: { ...(at(shown, "sync_config") as object), google: "other" } };
  expect((await own.ask("PUT", `${REPOS}/${fullRepo}`, changed, "staff")).status).toBe(200);
  const patch = own.sent.findLast(({ method }) => method === "PATCH");
  expect(patch?.query.get("updateMask")).toBe("sync_config.google,description");
  expect(at(patch?.body, "sync_config.google")).toBe("other");
});

test("TRAP-07: the number of a user in an overlay stays a number called uid", async () => {
  const own = platform();
  const shown = await shownRepo(own);
  expect(at(shown, "customOverlay.accounts.users.0.uid")).toBe(2_147_483_647);
  const text = JSON.stringify(shown).replace('"uid":1000', '"uid":1001');
  expect((await own.ask("PUT", `${REPOS}/${fullRepo}`, text, "staff")).status).toBe(200);
  expect(at(await shownRepo(own), "customOverlay.accounts.users.1.uid")).toBe(1001);
});

test("TRAP-08: userName and groupName change their spelling where v2 does, and only there", async () => {
  const own = platform();
  const shown = await shownRepo(own);
  expect(at(shown, "customOverlay.accounts.users.0")).toMatchObject({ userName: "largest", groupName: "g" });
  expect(at(shown, "customOverlay.accounts.groups.0")).toMatchObject({ groupName: "largest" });
  const text = JSON.stringify(shown).replace('"runAs":"65532"', '"runAs":"1"');
  await own.ask("PUT", `${REPOS}/${fullRepo}`, text, "staff");
  const sent = own.sent.find(({ method }) => method === "PATCH")?.body;
  expect(at(sent, "customOverlay.accounts.users.0")).toMatchObject({ username: "largest", groupName: "g" });
  expect(at(sent, "customOverlay.accounts.groups.0")).toMatchObject({ groupname: "largest" });
});

test("TRAP-09, DIFF-34, DIFF-35: a group id that was not sent is not sent on and not shown; an id that v2 cannot hold is refused", async () => {
  const own = platform({ organisation: false });
  const overlay = (user: Json) => ({ name: "r", customOverlay: { accounts: { users: [user] } } });
  const below = `${REPOS}/${own.known.rootGroup}`;
  const made = await own.same("POST", below, overlay({ userName: "u", uid: 2_147_483_647 }));
  expect(own.sent.at(-1)?.text).not.toContain('"gid"');
  expect(at(made.body, "customOverlay.accounts.users.0")).not.toHaveProperty("gid");
  const [listed] = items(await own.same("GET", REPOS));
  expect(at(listed, "customOverlay.accounts.users.0")).not.toHaveProperty("gid");
  for (const user of [{ uid: 2_147_483_648 }, { uid: 1, gid: 4_294_967_295 }]) {
    expect(refusal(await own.ask("POST", below, { ...overlay(user), name: "s" }))).toEqual([400, "INVALID_BODY"]);
  }
  expect(own.stores()).toEqual([]);
});

test("TRAP-24: keys of maps in an overlay are shown as they are", async () => {
  const own = platform();
  const shown = await shownRepo(own);
  const keys = ["id", "uid", "createdAt", "createTime", "updateTime", "userName", "username", "groupname"];
  for (const map of ["environment", "annotations"]) {
    expect(Object.keys(at(shown, `customOverlay.${map}`) as object)).toEqual(expect.arrayContaining(keys));
  }
});
