import { expect, test } from "vitest";
import { seededSandbox } from "./seeded.ts";

test("serves both faces and token exchange over HTTP, and lets go of its port when closed", async () => {
  const sandbox = seededSandbox({ logSize: 10 });
  const { url } = await sandbox.listen();
  try {
    const headers = { authorization: `Bearer ${sandbox.token("admin")}` };
    const v1 = await fetch(`${url}/iam/v1/groups?name=acme`, { headers });
    expect(((await v1.json()) as { items: unknown[] }).items).toHaveLength(1);
    const body = JSON.stringify({ name: "över http" });
    const refused = await fetch(`${url}/iam/v2beta1/groups`, { headers, method: "POST", body });
    expect(refused.status).toBe(400);
    expect(refused.headers.get("content-type")).toBe("application/json");
    expect((await fetch(`${url}/sts/exchange`)).status).toBe(401);
    expect(sandbox.requests.map((call) => call.status)).toEqual([200, 400, 401]);
  } finally {
    await sandbox.close();
  }
  await expect(fetch(url)).rejects.toThrow();
});

test("a body over the limit is 413, and a fault without an answer breaks the connection", async () => {
  const sandbox = seededSandbox({
    maxBodyBytes: 100,
    faults: () => async () => {
      throw new Error("no answer");
    },
  });
  const { url } = await sandbox.listen();
  try {
    const big = await fetch(`${url}/iam/v1/groups`, { method: "POST", body: "x".repeat(1_000) });
    expect(big.status).toBe(413);
    await expect(fetch(`${url}/iam/v1/groups`)).rejects.toThrow();
  } finally {
    await sandbox.close();
  }
});

test("closing what never listened is no error", async () => {
  await expect(seededSandbox().close()).resolves.toBeUndefined();
});
