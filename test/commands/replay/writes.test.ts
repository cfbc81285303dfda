import { expect, test } from "vitest";
import type { ReplayReport } from "../../../src/replay/report.ts";
import { fileOf, recording, replayRig } from "../../replay/rig.ts";
import { takeDownAfterEach } from "../../support/take-down.ts";

takeDownAfterEach();

const reportOf = (out: string): ReplayReport => JSON.parse(out);

test("writes go to the platform of --writes-to, with a token of its own, and to no other", async () => {
  const reads = await replayRig();
  const elsewhere = await replayRig({ seed: "elsewhere" });
  const { someGroup } = elsewhere.sandbox.wellKnown;
  const file = fileOf(
    recording([
      { method: "PUT", target: `/iam/v1/groups/${someGroup}`, body: '{"name":"platform","description":"new"}' },
      { method: "PUT", target: `/iam/v1/groups/${someGroup}` },
      { method: "POST", target: `/iam/v1/groups/${someGroup}`, body: '{"name":"…"}' },
      "/iam/v1/roles?name=viewer",
    ]),
  );
  const token = fileOf(elsewhere.sandbox.token("admin"), "token");
  const argv = [file, "--json", "--writes-to", elsewhere.url, "--writes-token-file", token];
  const before = reads.sandbox.snapshot();
  const { out, code } = await reads.command(argv);
  const { compared, differences, notReplayed } = reportOf(out);
  expect({ code, compared, differences }).toEqual({ code: 0, compared: 2, differences: [] });
  expect(notReplayed.map(({ why }) => why)).toEqual([
    "a write without its body (record.bodies)",
    "a secret in its body was redacted when it was recorded",
  ]);
  expect(reads.sandbox.snapshot()).toEqual(before);
  expect(elsewhere.sandbox.snapshot().groups.find(({ uid }) => uid === someGroup)).toMatchObject({
    description: "new",
  });
});

test("a write that is refused only by the translation is a difference", async () => {
  const reads = await replayRig();
  const elsewhere = await replayRig({
    seed: "elsewhere",
    faults: (next) => async (request, options) => {
      if (request.method !== "PATCH") return next(request, options);
      const body = Buffer.from('{"code":7,"message":"no","details":[]}');
      return { status: 403, headers: [["content-type", "application/json"]], body };
    },
  });
  const { someGroup } = elsewhere.sandbox.wellKnown;
  const write = { method: "PUT", target: `/iam/v1/groups/${someGroup}`, body: '{"name":"a"}' };
  const token = fileOf(elsewhere.sandbox.token("admin"), "token");
  const argv = ["--json", "--writes-to", elsewhere.url, "--writes-token-file", token];
  const { differences } = reportOf((await reads.command([fileOf(recording([write])), ...argv])).out);
  expect(
    differences.map(({ operation, path, example }) => [operation, path, example?.native, example?.translated]),
  ).toEqual([["update", "status", "200", "403"]]);
});

test("a write whose response differs only in the translation is a difference, though each write has a time of its own", async () => {
  const reads = await replayRig();
  const elsewhere = await replayRig({
    seed: "elsewhere",
    faults: (next) => async (request, options) => {
      const response = await next(request, options);
      if (request.method !== "PATCH") return response;
      const record = { ...JSON.parse(Buffer.from(response.body).toString()), description: "of another" };
      return { ...response, body: Buffer.from(JSON.stringify(record)) };
    },
  });
  const { someGroup } = elsewhere.sandbox.wellKnown;
  const write = { method: "PUT", target: `/iam/v1/groups/${someGroup}`, body: '{"name":"a","description":"mine"}' };
  const token = fileOf(elsewhere.sandbox.token("admin"), "token");
  const argv = ["--json", "--writes-to", elsewhere.url, "--writes-token-file", token];
  const { differences, noise } = reportOf((await reads.command([fileOf(recording([write])), ...argv])).out);
  expect(differences.map(({ operation, path }) => `${operation} ${path}`)).toEqual(["update description"]);
  expect(noise.map(({ path }) => path)).toEqual(["updatedAt"]);
});

test("the platform of the reads takes no writes, and gets no token of the other one", async () => {
  const rig = await replayRig();
  const file = fileOf(recording([{ method: "DELETE", target: "/iam/v1/groups/x" }]));
  const { code, err } = await rig.command([file, "--writes-to", rig.url]);
  expect([code, err]).toEqual([64, expect.stringContaining("this is the platform that the reads go to")]);
  const other = await replayRig({ seed: "elsewhere" });
  const without = await rig.command([file, "--writes-to", other.url]);
  expect(without.out).toContain(
    "the platform for writes refuses the token (401): give another one with --writes-token-file",
  );
});
