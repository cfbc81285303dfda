import { expect, test } from "vitest";
import { run } from "./support.ts";

test("carryover status --open prints the address of each page, and asks no instance", async () => {
  const fetch = () => Promise.reject(new Error("asked"));
  const { code, out } = await run(["status", "--open", "10.0.0.1:8081", "https://b.example"], { fetch });
  expect([code, out.trim().split("\n")]).toEqual([0, ["http://10.0.0.1:8081/", "https://b.example/"]]);
});
