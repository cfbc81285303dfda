import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";

const text = (path: string) => readFileSync(resolve(import.meta.dirname, "..", path), "utf8");

it("docs/embedding.md names all that the entry exports, and each member", () => {
  const [page, entry] = [text("docs/embedding.md"), text("src/index.ts")];
  const names = [...entry.matchAll(/^export (?:async )?(?:interface|type|function|class) (\w+)/gm)].map(
    ([, name]) => name,
  );
  const members = [...entry.matchAll(/^ {2}(?:readonly )?(\w+)(?:\??:|\()/gm)].map(([, name]) => name);
  expect([...names, "ConfigError", "ConfigFault"].filter((name) => !page.includes(`${name}`))).toEqual([]);
  expect([...new Set(members)].filter((name) => !page.includes(`\`${name}`))).toEqual([]);
});
