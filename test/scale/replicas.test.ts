/** Do several replicas together say and do what one alone would? */
import { expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { report } from "../report/support.ts";
import { doWork, replicas, replicaTests, work } from "./replicas.ts";

takeDownAfterEach();

replicaTests(2);

it("an instance that is asked behind two addresses is counted once", async () => {
  const { all, root } = await replicas(1);
  await doWork({ all, root });
  const [{ adminUrl = "" } = {}] = all;
  const { out } = await report([adminUrl, adminUrl.replace("127.0.0.1", "localhost"), "--json"]);
  const { instances, requests } = JSON.parse(out);
  expect(instances.map(({ sameAs }: { sameAs: unknown }) => sameAs === null)).toEqual([true, false]);
  expect(requests.v1 + requests.v2).toBeLessThan(work("").length);
});
