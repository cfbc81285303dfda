import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../sandbox/src/sandbox.ts";
import { startCarryover } from "../support/carryover.ts";

describe("a carryover with record.file", () => {
  let sandbox: Sandbox;
  let url = "";
  const folder = mkdtempSync(join(tmpdir(), "recorder-"));
  const file = join(folder, "requests.jsonl");
  beforeAll(async () => {
    sandbox = createSandbox();
    url = (await sandbox.listen()).url;
  });
  afterAll(async () => {
    await sandbox.close();
    rmSync(folder, { recursive: true });
  });

  it("records what v1 clients asked, and no credential", async () => {
    const flags = { recordFile: file, recordBodies: "true", recordPerSecond: "1000", cutoverMode: "native" };
    const carryover = await startCarryover({ v2Url: url, v1Url: url, flags });
    const headers = {
      authorization: `Bearer ${sandbox.token("admin")}`,
      "user-agent": "ci",
      "content-type": "application/json",
    };
    const ask = (target: string, init: RequestInit = {}) => fetch(`${carryover.url}${target}`, { headers, ...init });
    await ask("/iam/v1/groups?name=payroll");
    await ask("/iam/v2beta1/groups");
    await ask(`/iam/v1/groups/${sandbox.wellKnown.rootGroup}`, { method: "POST", body: '{"name":"new"}' });
    const form = { "content-type": "application/x-www-form-urlencoded", "x-http-method-override": "GET" };
    await ask("/iam/v1/roles", { method: "POST", headers: { ...headers, ...form }, body: "uidp.inRoot=true" });
    await carryover.close();
    const text = readFileSync(file, "utf8");
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ time: _, ...rest }) => rest)).toEqual([
      { method: "GET", target: "/iam/v1/groups?name=%E2%80%A6", client: "ci", status: 200, mode: "native" },
      expect.objectContaining({ method: "POST", status: 200, body: '{"name":"new"}' }),
      { method: "GET", target: "/iam/v1/roles?uidp.inRoot=true", client: "ci", status: 200, mode: "native" },
    ]);
    expect(text).not.toContain(sandbox.token("admin"));
  });

  it("counts all requests that it left out because of record.perSecond, also the last ones", async () => {
    const limited = join(folder, "limited.jsonl");
    const flags = { recordFile: limited, recordPerSecond: "1" };
    const carryover = await startCarryover({ v2Url: url, flags });
    const asked = 20;
    await Promise.all(Array.from({ length: asked }, () => fetch(`${carryover.url}/iam/v1/roles`)));
    await carryover.close();
    const lines = readFileSync(limited, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toContainEqual({ time: expect.any(String), left: expect.any(Number), why: "rate" });
    expect(lines.reduce((sum, { left = 1 }) => sum + left, 0)).toBe(asked);
    expect(lines.filter(({ target }) => target !== undefined).length).toBeLessThan(asked / 2);
  });

  it("does not start with a file that it cannot write", async () => {
    const flags = { recordFile: join(folder, "nowhere", "requests.jsonl") };
    await expect(startCarryover({ v2Url: url, flags })).rejects.toThrow("record.file: ");
  });
});
