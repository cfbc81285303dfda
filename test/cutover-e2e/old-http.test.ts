/** Does a shadow see what becomes of a client that speaks HTTP/1.0? */
import { connect } from "node:net";
import { expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { cutover } from "./rig.ts";

takeDownAfterEach();

const rules = (mode: string) => `version: carryover/v1
rules: [{ name: all, match: {}, mode: ${mode}, shadow: { sample: 1, control: 0 } }]
`;

/** The status of the answer to one GET in HTTP/1.0. */
function get(url: string, path: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    let got = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${path} HTTP/1.0\r\nuser-agent: old/1\r\nauthorization: Bearer ${token}\r\n\r\n`);
    });
    socket.on("data", (data) => {
      got += data.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(Number(got.split(" ")[1])));
  });
}

it("a list that translation would refuse to HTTP/1.0 differs, one that it would give does not", async () => {
  const rig = await cutover({
    rules: rules("shadow"),
    sandbox: { size: 600 },
    flags: { listsBufferBytes: "64KiB" },
  });
  const token = rig.sandbox.token("admin");
  const { emptyGroup } = rig.sandbox.wellKnown;
  const short = `/iam/v1/groups?id=${emptyGroup}`;
  for (const path of ["/iam/v1/groups", short]) expect(await get(rig.url, path, token)).toBe(200);
  await rig.idle();
  expect(await rig.metric("carryover_comparisons_total", { result: "status" })).toBe(1);
  expect(await rig.metric("carryover_comparisons_total", { result: "equal" })).toBe(1);
  await rig.change(rules("translate"));
  expect(await get(rig.url, "/iam/v1/groups", token)).toBe(422);
  expect(await get(rig.url, short, token)).toBe(200);
});
