import { expect, it } from "vitest";
import { later, type Rig, reasonOf, rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { createDouble, ok } from "../../server/support/double.ts";

takeDownAfterEach();

/** Asks for `ms`, in vain each time, and never because the breaker is open. */
async function inVain(rig: Rig, ms: number): Promise<void> {
  const end = performance.now() + ms;
  let failed = 0;
  for (; performance.now() < end; failed++)
    expect(reasonOf(await rig.ask("GET", "/iam/v2beta1/groups/a/b"))).toBe("UPSTREAM_UNREACHABLE");
  expect(failed).toBeGreaterThan(10);
}

it("a platform is not taken for away for the sake of what nobody answers: the rest goes on", async () => {
  const platform = await createDouble(({ line }, socket) => {
    if (line.includes("/groups")) socket.destroy();
    else socket.write(ok("{}"));
  });
  later(platform.close);
  const rig = await rigForTest({ v2Url: platform.url, native: false });
  await inVain(rig, 3_500);
  expect((await rig.ask("GET", "/iam/v2beta1/roles")).status).toBe(200);
  const own = platform.requests.filter(({ line }) => line.startsWith("HEAD / "));
  expect(own.length).toBeGreaterThanOrEqual(1);
  expect(own.flatMap(({ fields }) => fields).filter(([name]) => name.toLowerCase() === "authorization")).toEqual([]);
});

it("a platform that is away is tried by every call where the operator wants no breaker", async () => {
  const platform = await createDouble(ok("{}"));
  await platform.close();
  const rig = await rigForTest({ v2Url: platform.url, native: false, flags: { upstreamV2Breaker: "false" } });
  await inVain(rig, 2_500);
});
