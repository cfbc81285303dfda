/** A brownout over HTTP, from before its window until the report after it (docs/brownouts.md). */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand } from "../../../scripts/command.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, folder, LACKING, serveLacking } from "./rig.ts";

takeDownAfterEach();

const TOKEN = "0123456789-admin-token";
const RULES = `version: carryover/v1
rules:
  - name: tuesdays
    match: { client: [ci, web, batch, billing] }
    mode: brownout
    schedule: { cron: "0 9 * * 2", zone: Europe/Vienna, duration: 10m }
    brownout:
      { message: v1 ends in June, successor: https://example.com/v2, contact: api@example.com, exempt: billing, stopAbove: 1, singleReplica: true }
    headers: { deprecation: 2026-12-01, sunset: 2099-06-30 }
  - { name: rest, match: {}, mode: native }
`;
const MINUTE = 60_000;
const BEGIN = Date.UTC(2027, 2, 23, 8);
const LIST = "/iam/v1/groups";
const V2 = "/iam/v2beta1/groups?page_size=1";

async function rig() {
  const tokenFile = join(await folder(), "token");
  await writeFile(tokenFile, TOKEN);
  const clock = { at: BEGIN - MINUTE };
  const made = await cutover({
    rules: RULES,
    wall: () => clock.at,
    sandbox: { faults: serveLacking },
    flags: { adminTokenFile: tokenFile, cutoverMode: "native" },
  });
  const status = async (client: string, target = LIST) => (await made.ask("GET", target, as(client))).status;
  const command = (...argv: readonly string[]) =>
    runCommand([...argv, made.adminUrl], { env: { CARRYOVER_ADMIN_TOKEN: TOKEN } });
  return { ...made, clock, status, command };
}

it("refuses the rule's clients in its window only, and says until when, why, and what to do", async () => {
  const { ask, clock, status, arrived } = await rig();
  expect(await status("ci")).toBe(200);
  clock.at = BEGIN + MINUTE;
  const sent = arrived.length;
  const refused = await ask("GET", LIST, as("ci"));
  expect(arrived).toHaveLength(sent);
  expect(refused.status).toBe(400);
  expect(refused.json).toEqual({
    code: 9,
    message:
      "v1 ends in June (brownout tuesdays from 2027-03-23T08:00:00Z until 2027-03-23T08:10:00Z). Use v2 instead: https://example.com/v2 Questions: api@example.com",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "BROWNOUT",
        domain: "carryover",
        metadata: {
          rule: "tuesdays",
          from: "2027-03-23T08:00:00Z",
          until: "2027-03-23T08:10:00Z",
          successor: "https://example.com/v2",
          contact: "api@example.com",
          option: "cutover.rulesFile",
        },
      },
    ],
  });
  const fields = (name: string) => refused.headers.filter(([key]) => key === name).map(([, value]) => value);
  expect(fields("cache-control")).toEqual(["private, no-store"]);
  expect(fields("retry-after")).toEqual(["540"]);
  expect(fields("deprecation")).toEqual([`@${Date.UTC(2026, 11, 1) / 1000}`]);
  expect(fields("sunset")).toEqual(["Tue, 30 Jun 2099 00:00:00 GMT"]);
  expect(fields("link")).toEqual([
    '<https://example.com/v2>; rel="successor-version"',
    '<mailto:api@example.com>; rel="help"',
  ]);
  expect(fields("carryover-brownout")).toEqual([
    "rule=tuesdays; from=2027-03-23T08:00:00Z; until=2027-03-23T08:10:00Z",
  ]);
  // Also what only native v1 serves, and what it alone would refuse.
  expect(await status("ci", LACKING)).toBe(400);
  expect((await ask("PATCH", LIST, as("ci"))).json).toMatchObject({ details: [{ reason: "BROWNOUT" }] });
  expect(await status("billing")).toBe(200);
  expect(await status("stranger")).toBe(200);
  expect(await status("ci", V2)).toBe(200);
  clock.at = BEGIN + 10 * MINUTE;
  expect(await status("ci")).toBe(200);
});

it("passes over a client that failed its exam, and none that calls paths which carryover does not know", async () => {
  const { clock, status } = await rig();
  for (const client of ["ci", "web", "batch"]) await status(client);
  await status("web", LACKING);
  await status("batch", "/other/v1/things");
  clock.at = BEGIN + MINUTE;
  expect(await Promise.all(["ci", "web", "batch"].map((client) => status(client)))).toEqual([400, 200, 400]);
});

it("force native ends it with the next request, for the rest of the window", async () => {
  const { clock, status, command, adminUrl } = await rig();
  clock.at = BEGIN + MINUTE;
  expect(await status("ci")).toBe(400);
  expect((await command("force", "native", "--by", "anna")).code).toBe(0);
  expect(await status("ci")).toBe(200);
  expect((await command("force", "none")).code).toBe(0);
  expect(await status("ci")).toBe(200);
  const answer = await fetch(`${adminUrl}/events`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const { events } = (await answer.json()) as { readonly events: readonly Record<string, unknown>[] };
  expect(events.filter(({ kind }) => String(kind).startsWith("brownout-"))).toMatchObject([
    { kind: "brownout-began", rule: "tuesdays", reason: "v1 is refused until 2027-03-23T08:10:00.000Z" },
    { kind: "brownout-stopped", rule: "tuesdays", reason: "carryover force native" },
  ]);
});

it("the report tells afterwards who was refused, and who came back, and how", async () => {
  const { clock, status, command } = await rig();
  for (const client of ["ci", "web", "batch"]) await status(client);
  clock.at = BEGIN + MINUTE;
  for (const client of ["ci", "web", "batch"]) await status(client);
  await status("ci");
  clock.at = BEGIN + 11 * MINUTE;
  await status("ci", V2);
  await status("web");
  const { brownouts } = JSON.parse((await command("report", "--json")).out);
  const found = brownouts.map((one: Record<string, unknown>) => [one["client"], one["refused"], one["outcome"]]);
  expect(found).toEqual([
    ["web", 1, "unchanged"],
    ["batch", 1, "silent"],
    ["ci", 2, "moved"],
  ]);
});
