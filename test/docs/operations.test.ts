/** Does the page for operators name what there is to look at? */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { rigForTest, takeDownAfterEach } from "../app/rig.ts";

takeDownAfterEach();

const page = readFileSync(resolve(import.meta.dirname, "../../docs/operations.md"), "utf8");

describe("docs/operations.md", () => {
  it("names every path of the admin port", async () => {
    const { adminUrl } = await rigForTest();
    const { message } = (await (await fetch(`${adminUrl}/nothing`)).json()) as { message: string };
    const there = [...message.matchAll(/\/[a-z.-]+/g)].map(([path]) => path);
    expect(there.length).toBeGreaterThan(8);
    expect(there.filter((path) => !new RegExp(`\`${path.replace(".", "\\.")}[?\`]`).test(page))).toEqual([]);
  });
});
