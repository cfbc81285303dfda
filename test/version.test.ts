/** Does the program call itself what its package is called? */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { VERSION } from "../src/version.ts";

test("the version is the package's", () => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  expect(VERSION).toBe(version);
});
