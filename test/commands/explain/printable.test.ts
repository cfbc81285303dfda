import { describe, expect, test } from "vitest";
import { printable } from "../../../src/commands/terminal.ts";
import { explainWith } from "./support.ts";

/** Anything that a terminal obeys, beside ends of lines. */
const OBEYED = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const ESCAPE = "\u001b[31mX\u0007\u009b\u202e";

describe("what a terminal would obey", () => {
  test("is shown as JSON writes it", () => {
    expect(printable("a\u001b[0m\u009b\u202e\ud800\u{e0001}ä😀\tb\r\nc\n\rd")).toBe(
      "a\\u001b[0m\\u009b\\u202e\\ud800\\udb40\\udc01ä😀\tb\r\nc\n\\u000dd",
    );
  });

  const EVERYWHERE = '{"name":"\u009b31m\u202e","\u009bk":"\u202e","\\u001bkey":"\\u001b"}';
  // Each form of output is escaped as a whole: one hostile body in all of them, everything else in the text alone.
  test.each([
    [["PUT /iam/v1/groups/a", "-d", EVERYWHERE]],
    [["PUT /iam/v1/groups/a", "-d", EVERYWHERE, "--json"]],
    [["PUT /iam/v1/groups/a", "-d", EVERYWHERE, "--curl"]],
    [[`GET /iam/v1/groups/${ESCAPE}`]],
    [[`GET /iam/v1/groups?${ESCAPE}=1&name=${ESCAPE}`]],
    [["GET /iam/v1/groups?name=%1b%5b31m&%1b=2"]],
    [[`GET /iam/v2beta1/groups/${ESCAPE}`, "-H", `x-a: ${ESCAPE}`]],
    [["POST /iam/v1/roles/a", "-d", '{"name":"x","capabilities":["\u009b31m"]}', "--curl"]],
    [[`GET /iam/v1/groups ${ESCAPE}`]],
    [["PUT /iam/v1/groups/a", "-d", `@${ESCAPE}`]],
  ])("never reaches it: %j", async (words) => {
    const { out, err } = await explainWith(words);
    expect(out + err).not.toBe("");
    expect(out + err).not.toMatch(OBEYED);
  });

  test("is the same body all the same", async () => {
    const { out } = await explainWith(["PUT /iam/v1/groups/a", "--json", "-d", '{"name":"\u009bx"}']);
    expect(JSON.parse(JSON.parse(out).calls[0].body)).toMatchObject({ name: "\u009bx" });
  });
});

describe("a secret in the wrong place", () => {
  test.each([
    "GET /iam/v1/groups -H 'Authorization: Bearer SENTINEL'",
    "curl -H 'Authorization: Bearer SENTINEL' https://h/iam/v1/groups",
    "https://u:SENTINEL@h",
    "https://h/iam/v1/groups https://u:SENTINEL@h/x?token=SENTINEL",
    "GET /iam/v1/groups?acc%65ss_t%6Fken=SENTINEL",
  ])("is not shown again: %s", async (line) => {
    for (const form of [["--json"], ["--curl"]]) {
      const { out, err } = await explainWith([line, ...form]);
      expect(out + err).not.toBe("");
      expect(out + err).not.toContain("SENTINEL");
    }
  });
});
