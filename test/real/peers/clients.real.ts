import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { later, type Rig, rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { ask } from "../ingress/ask.ts";
import { spawned, startProxy } from "../ingress/proxy.ts";
import { FRONTS } from "./fronts.ts";

takeDownAfterEach();

const DESCRIPTION = "d".repeat(100_000);

/** Where clients call: carryover, or a front before it. */
const WAYS: readonly (readonly [string, (rig: Rig) => Promise<string>])[] = [
  ["carryover", async (rig) => rig.url],
  ...FRONTS.map(({ program }): (typeof WAYS)[number] => [
    `${program.title} before it`,
    async (rig) => {
      const behind = { carryoverUrl: rig.url, adminUrl: rig.adminUrl, platformUrl: rig.sandboxUrl };
      return (await startProxy(program, behind)).url;
    },
  ]),
];

describe.each(WAYS)("%s", (_, way) => {
  it("T-SMG-18: tells curl to go on with a body that it asks leave for, and takes the body whole", async () => {
    const rig = await rigForTest({ flags: { listenTrustedProxies: "127.0.0.1" } });
    const url = `${await way(rig)}/iam/v1/groups/${rig.sandbox.wellKnown.someGroup}`;
    const folder = await mkdtemp(join(tmpdir(), "carryover-curl-"));
    later(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "body"), JSON.stringify({ name: "expected", description: DESCRIPTION }));
    const curl = spawned(
      "/usr/bin/env",
      [
        ...["curl", "--silent", "--show-error", "--verbose", "--request", "PUT", url, "--data-binary", "@body"],
        // It would send the body without leave after this time.
        ...[
          "--expect100-timeout",
          "60",
          "--header",
          "Expect: 100-continue",
          "--header",
          "Content-Type: application/json",
        ],
        ...["--header", `Authorization: Bearer ${rig.sandbox.token("admin")}`],
      ],
      folder,
    );
    expect([await curl.ended, curl.said()]).toEqual([0, expect.stringContaining("< HTTP/1.1 100 Continue")]);
    expect(curl.said()).toContain("< HTTP/1.1 200 OK");
    expect(rig.arrived.filter(({ method }) => method === "PATCH").length).toBe(1);
    const { json } = await rig.ask("GET", new URL(url).pathname);
    expect(json).toMatchObject({ name: "expected", description: DESCRIPTION });
  });
});

it("a gRPC call over HTTP/1.1 is refused with 415 and gRPC's own code for what is not served", async () => {
  const rig = await rigForTest();
  const headers = ["Content-Type", "application/grpc", "TE", "trailers"];
  const target = "/example.platform.iam.Groups/List";
  const answer = await ask(rig.url, { method: "POST", target, headers, body: "\0\0\0\0\0" });
  expect(answer.status).toBe(415);
  expect(JSON.parse(answer.text)).toMatchObject({ code: 12, details: [{ reason: "GRPC_UNSUPPORTED" }] });
  expect(rig.arrived).toEqual([]);
});
