/** The key of what is shared differs for every other credential, path, query and field. (At length; beside test/share/key.test.ts.) */
import { expect, it } from "vitest";
import { credentialOf } from "../../../src/share/credential.ts";
import { keyOf } from "../../../src/share/key.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { randomOf, seedOf } from "./support/tenants.ts";

const OPTIONS = { secret: Buffer.alloc(32, 7), origin: "https://platform.example", ruleVersion: "1" };
/** Few characters, among them all that separate anything in a key, a target or a field: collisions are as likely as can be. */
const CHARACTERS = ['"', ",", "[", "]", "\\", "=", ".", "a", "b", "\0", "\x1f", " "];

it("T-ISO-05: every other tuple of credential, path, query and fields has another key", { timeout: 600_000 }, () => {
  const tuples = scale(20_000, 1_000_000);
  const random = randomOf(seedOf("T-ISO-05"));
  const text = (most: number) =>
    Array.from(
      { length: Math.floor(random() * (most + 1)) },
      () => CHARACTERS[Math.floor(random() * CHARACTERS.length)],
    ).join("");
  const token = () => `a${text(3).replace(/[^ab.]/g, "-")}`;
  const meanings = new Map<string, string>();
  let distinct = 0;
  let collisions = 0;
  for (let nth = 0; nth < tuples; nth++) {
    const [who, path, query, accept, language, cookie] = [token(), text(3), text(3), text(2), text(2), text(2)];
    const headers = [
      ["authorization", `Bearer ${who}`],
      ["accept", accept],
      ["accept-language", language],
      ["cookie", cookie],
    ] as const;
    const credential = credentialOf(headers, OPTIONS.secret);
    if (credential === undefined) throw new Error(`no credential: ${who}`);
    const key = keyOf({ method: "GET", target: `/${path}?${query}`, headers }, credential, OPTIONS);
    const meaning = JSON.stringify([who, path, query, accept, language, cookie]);
    const before = meanings.get(key);
    if (before === undefined) distinct++;
    else if (before !== meaning) collisions++;
    meanings.set(key, meaning);
  }
  expect(collisions).toBe(0);
  expect(distinct).toBeGreaterThan(tuples / 3);
  figure("T-ISO-05", "random tuples made into keys, separators included", tuples, "tuples");
  figure("T-ISO-05", "keys that two different tuples shared", collisions, "keys");
});
