import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/model/json.ts";
import { json } from "../support.ts";
import { ask, callsOf, PARENT, REPO, refusal, world } from "./registry.ts";

describe("the readme of the repos of a list", () => {
  const many = (count: number) => {
    const held = world();
    for (let index = 0; index < count; index += 1) held.repos.set(`${PARENT}/r${index}`, { name: `n${index}` });
    held.readmes.set(`${PARENT}/r0`, "zero");
    return held;
  };

  test("is read once for each", async () => {
    const run = await ask(many(3), "GET", "repos");
    const readmes = callsOf(run).filter((call) => call.endsWith("/readme"));
    expect(new Set(readmes).size).toBe(4);
    expect(readmes).toHaveLength(4);
    const { items } = run.body as { items: JsonObject[] };
    expect(items.map((item) => item["readme"])).toEqual(["", "zero", "", ""]);
  });

  test("is read for the one repo that is asked for by its id", async () => {
    const run = await ask(world({}, "text"), "GET", `repos?id=${encodeURIComponent(REPO)}`);
    expect(callsOf(run)).toEqual([`GET repos/${REPO}`, `GET repos/${REPO}/readme`]);
    expect(run.body).toMatchObject({ items: [{ id: REPO, readme: "text" }] });
  });

  test("fails the list when it cannot be read for now", async () => {
    const interfere = (call: string) => (call.endsWith("/readme") ? json(503, { code: 14, details: [] }) : undefined);
    expect((await ask(many(1), "GET", "repos", { interfere })).response.status).toBe(503);
  });

  test("DIFF-29: is empty, and counted, where it may not be read", async () => {
    const interfere = (call: string) => (call.endsWith("/readme") ? refusal(403, 7) : undefined);
    const run = await ask(world({}, "text"), "GET", "repos", { interfere });
    expect([run.body, run.exchange.notes]).toMatchObject([{ items: [{ readme: "" }] }, ["join-missing"]]);
  });

  test("is read for as many repos as there are, page by page", async () => {
    const { response } = await ask(many(601), "GET", "repos");
    const { items } = JSON.parse(Buffer.from(response.body).toString()) as { items: { readme: string }[] };
    expect(items.filter(({ readme }) => readme !== undefined)).toHaveLength(602);
  });
});
