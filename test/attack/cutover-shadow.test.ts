/** Does a shadow tell the truth, keep secrets, and leave nothing behind, whatever the platforms answer? */
import { connect } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, platform } from "../cutover-e2e/rig.ts";

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
  const flags = { shadowAnswerBytes: "2MiB", unknownFieldsResponse: "drop" };
  const rig = await cutover({ rules: SHADOW, v1Url: v1.url, v2Url: v2.url, flags });
  await rig.ask("GET", "/iam/v1/groups", as("x"));
  await rig.compared(1);
  const { samples } = await rig.view("/samples");
  expect(samples.flatMap((one: { differences: { class: string }[] }) => one.differences.map((two) => two.class)))
    .not //
    .toContain("status");
});

it("the code of an invitation is shown to nobody", async () => {
  const rig = await cutover({
    rules: SHADOW,
    sandbox: {
      faults: (next) => async (request, options) => {
        const answer = await next(request, options);
        const isInvite = request.method === "GET" && request.target.includes("/groupInvites/");
        if (!isInvite || answer.status !== 200) return answer;
        const record = JSON.parse(Buffer.from(answer.body).toString());
        return { ...answer, body: Buffer.from(JSON.stringify({ ...record, code: "masked" })) };
      },
    },
  });
  const group = (await rig.ask("GET", "/iam/v1/groups", as("x"))).json.items[0].id;
  const role = (await rig.ask("GET", "/iam/v1/roles", as("x"))).json.items[0].id;
  const body = { ttl: "3600s", role, email: "a@example.com" };
  const made = await rig.ask("POST", `/iam/v1/group_invites/${group}`, { ...as("x"), body });
  expect(made.json.code).toMatch(/^\w{8,}$/);
  await rig.compared(3);
  const shown = await rig.text("/samples");
  expect(shown).toContain('"path":"code"');
  expect(shown).not.toContain(made.json.code);
});

it("a bomb is given up, whatever it is packed in", async () => {
  const blanks = Buffer.alloc(64 * 1024 ** 2, 0x20);
  const packed: readonly (readonly [string, Buffer])[] = [
    ["gzip", gzipSync(blanks)],
    ["br", brotliCompressSync(blanks)],
    ["gzip, gzip", gzipSync(gzipSync(blanks))],
    ["aes", Buffer.from("xx")],
    ["gzip", gzipSync('{"items":[]}').subarray(0, 12)],
  ];
  let next = packed[0];
  const v1 = await platform((_request, response) => {
    response.setHeader("content-encoding", next?.[0] ?? "");
    response.end(next?.[1]);
  });
  const rig = await cutover({ rules: SHADOW, v1Url: v1.url });
  for (const one of packed) {
    next = one;
    const answer = await rig.ask("GET", "/iam/v1/groups", as("x"));
    expect(Buffer.compare(answer.body, one[1])).toBe(0);
    await rig.idle();
  }
  expect(await rig.metric("carryover_comparison_failures_total", { reason: "unreadable" })).toBe(packed.length);
});

it("answers that are cut off, or whose clients leave, leave nothing behind", async () => {
  const v1 = await platform((request, response) => {
    response.setHeader("content-type", "application/json");
    response.write(`{"items":[${"1,".repeat(200_000)}`);
    if (request.headers["user-agent"]?.startsWith("cut")) setTimeout(() => response.destroy(), 20);
  });
  const rig = await cutover({ rules: SHADOW, v1Url: v1.url });
  const { hostname, port } = new URL(rig.url);
  const token = rig.sandbox.token("admin");
  const leave = (product: string, ms: number) =>
    new Promise<void>((resolve) => {
      const head = `GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nuser-agent: ${product}\r\n\r\n`;
      const socket = connect(Number(port), hostname, () => socket.write(head));
      socket.on("error", () => {});
      socket.on("close", () => resolve());
      socket.resume();
      setTimeout(() => socket.destroy(), ms);
    });
  await Promise.all(Array.from({ length: 24 }, (_, i) => leave(i % 2 === 0 ? "cut" : "stays", 20 + 10 * i)));
  await rig.idle();
  expect(await rig.metric("carryover_comparisons_total")).toBe(0);
  expect(await rig.metric("carryover_comparisons_held_bytes")).toBe(0);
});

it("no write, and no odd method, ever writes to v2", async () => {
  const rig = await cutover({ rules: SHADOW });
  const groups = (await rig.ask("GET", "/iam/v1/groups", as("x"))).json.items;
  const roles = (await rig.ask("GET", "/iam/v1/roles", as("x"))).json.items;
  const [root, leaf] = [groups[0].id, groups.at(-1)];
  const asked: readonly (readonly [string, string, object?])[] = [
    ["POST", `/iam/v1/groups/${root}`, { name: "new" }],
    ["PUT", `/iam/v1/groups/${leaf.id}`, { ...leaf, description: "other" }],
    ["POST", `/iam/v1/group_invites/${root}`, { ttl: "60s", role: roles[0].id }],
    ["POST", `/iam/v1/roles/${root}`, { name: "r", capabilities: ["groups.list"] }],
    ["POST", `/iam/v1/identities/${root}`, { name: "i", claimMatch: { issuer: "https://x.example", subject: "s" } }],
    ...["HEAD", "Delete", "delete", "PATCH", "OPTIONS", "QUERY"].map(
      (method) => [method, `/iam/v1/groups/${leaf.id}`] as const,
    ),
    ["DELETE", `/iam/v1/groups/${leaf.id}`],
  ];
  for (const [method, path, body] of asked) {
    await rig.ask(method, path, { ...as("x"), ...(body === undefined ? {} : { body }) }).catch(() => undefined);
    await rig.idle();
  }
  const written = rig.arrived.filter(({ method, target }) => method !== "GET" && target.includes("/v2beta1/"));
  expect(written).toEqual([]);
  expect(rig.arrived.some(({ target }) => target.includes("/v2beta1/groupInvites/"))).toBe(true);
});
