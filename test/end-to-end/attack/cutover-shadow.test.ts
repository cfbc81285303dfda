import { connect } from "node:net";
import { expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, platform, until } from "../cutover/rig.ts";

takeDownAfterEach();

const SHADOW = `version: carryover/v1
rules:
  - name: all
    match: {}
    mode: shadow
    shadow: { sample: 1, control: 1 }
`;

it("a list that clients get is compared as they get it, however large v2's pages are", async () => {
  const ids = Array.from({ length: 60 }, (_, i) => `${i}`.padStart(8, "0"));
  const v1 = await platform((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ items: ids.map((id) => ({ id, name: `n${id}` })) }));
  });
  const v2 = await platform((_request, response) => {
    response.setHeader("content-type", "application/json");
    const groups = ids.map((uid) => ({ uid, name: `n${uid}`, ignored: "x".repeat(50_000) }));
    response.end(JSON.stringify({ groups, totalCount: groups.length }));
  });
  const flags = { limitsMemoryBytes: "16MiB", unknownFieldsResponse: "drop" };
  const rig = await cutover({ rules: SHADOW, v1Url: v1.url, v2Url: v2.url, flags });
  await rig.ask("GET", "/iam/v1/groups", as("x"));
  await rig.compared(1);
  const { samples } = await rig.view("/samples");
  expect(samples.flatMap((one: { differences: { class: string }[] }) => one.differences.map((two) => two.class)))
    .not //
    .toContain("status");
});

const RECORDS = 6000;
const PAGE = 200;

it("a long list that is followed gives back what it holds when a client leaves in the middle, and when v2 does", async () => {
  const state = { dies: false };
  const v2 = await platform((request, response) => {
    const asked = new URL(request.url ?? "", "http://v2").searchParams;
    const from = Number(asked.get("skip") ?? asked.get("page_token") ?? 0);
    if (state.dies && from > RECORDS / 2) {
      response.destroy();
      return;
    }
    const end = Math.min(RECORDS, from + PAGE);
    const groups = Array.from({ length: end - from }, (_, i) => {
      return { uid: `${from + i}`.padStart(8, "0"), name: "n", description: "x".repeat(800) };
    });
    const next = end < RECORDS ? { nextPageToken: `${end}` } : {};
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ groups, totalCount: RECORDS, ...next }));
  });
  const rules = `version: carryover/v1
rules:
  - { name: all, match: {}, mode: translate, shadow: { sample: 1 } }
`;
  const rig = await cutover({ v2Url: v2.url, rules });
  const { hostname, port } = new URL(rig.url);
  /** Bytes that came before the connection was over; `most`: the client leaves once it has so many. */
  const read = (most: number) =>
    new Promise<number>((resolve) => {
      let got = 0;
      const token = rig.sandbox.token("admin");
      const head = `GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n`;
      const socket = connect(Number(port), hostname, () => socket.write(head));
      socket.on("error", () => {});
      socket.on("close", () => resolve(got));
      socket.on("data", (chunk) => {
        got += chunk.length;
        if (got > most) socket.destroy();
      });
    });
  expect(await read(100_000)).toBeLessThan(RECORDS * 800);
  state.dies = true;
  expect(await read(Number.POSITIVE_INFINITY)).toBeLessThan(RECORDS * 800);
  await until(
    () => rig.metric("carryover_comparisons_skipped_total", { reason: "aborted" }),
    (aborted) => aborted === 2,
  );
  await rig.idle();
  expect(await rig.metric("carryover_in_flight_requests")).toBe(0);
  expect(await rig.metric("carryover_comparisons_held_bytes")).toBe(0);
});
