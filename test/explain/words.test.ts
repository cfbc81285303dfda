import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitWords } from "../../src/commands/explain/request.ts";
import { Problem } from "../../src/model/problem.ts";

const LINES = [
  "curl -s 'a b' \"c d\" e\\ f",
  "one''two ''",
  "\"\" '' \"a\"'b'c",
  "a \\\n b\\\nc",
  "'it'\\''s' \"it's\" 'say \"hi\"'",
  '"\\"quoted\\" \\\\ \\n \\a" \\n',
  'a\tb  c  "tab\tinside"',
  "héllo '…' \"日本\"",
  "-d '{\"a\":[1,2]}' -H 'X: y'",
  "a#b 'c'#d",
  "one # a comment",
];

/** The words of each line as a real shell splits them. */
function byShell(): readonly (readonly string[])[] {
  const script = LINES.map((line) => `printf '%s\\0' ${line}\nprintf '\\n\\0'`).join("\n");
  const { stdout, status } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect(status).toBe(0);
  return stdout
    .split("\n\0")
    .slice(0, -1)
    .map((words) => words.split("\0").slice(0, -1));
}

test("a line is split as a shell splits it", () => {
  expect(LINES.map((line) => splitWords(line).words)).toEqual(byShell());
});

test("whatever is quoted comes out as it was", () => {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), (words) => {
      expect(splitWords(words.map(quoted).join(" ")).words).toEqual(words);
    }),
  );
});

describe("what a shell would do is not done", () => {
  test("variables and commands stay as text, and are named", () => {
    const { words, notes } = splitWords('curl "Bearer $TOKEN" \x24{HOST}/x $(cat a b) `pwd` \'$NO\' "\\$NO" $1');
    expect(words).toEqual(["curl", "Bearer $TOKEN", "\x24{HOST}/x", "$(cat a b)", "`pwd`", "$NO", "$NO", "$1"]);
    const named = ["$TOKEN", "\x24{HOST}", "$(cat a b)", "`pwd`"];
    expect(notes).toEqual(named.map((name) => `${name} is left as it is: nothing is expanded here`));
  });

  test.each(["| jq .", "; echo", "> file", "2>/dev/null", "\ncurl next"])("reading ends at %j", (rest) => {
    const { words, notes } = splitWords(`curl a ${rest}`);
    expect(words).toEqual(["curl", "a"]);
    expect(notes).toHaveLength(1);
  });

  test("an empty line before the command is nothing", () => {
    expect(splitWords("\n\n  curl a\n").words).toEqual(["curl", "a"]);
  });
});

describe("what cannot be read is refused, and the refusal says why", () => {
  test.each([
    ["curl $'a\\n'", /quoting that is not read here/],
    ['curl $"a"', /quoting that is not read here/],
    ["curl http://x?a=1&b=2", /quotes around the URL/],
    ["curl 'a", /single quote is never closed/],
    ['curl "a', /double quote is never closed/],
    ["curl $(a", /never closed/],
    ["curl `a", /never closed/],
    ["curl ${a", /never closed/],
    // Looked for only once.
    [`curl ${"${".repeat(200_000)}`, /never closed/],
  ])("%s", (line, message) => {
    expect(() => splitWords(line)).toThrow(message);
  });

  test("any text is split or refused, and nothing else happens", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab '\"\\$`()&|;{}\n-") }), (text) => {
        try {
          splitWords(text);
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
      }),
    );
  });
});
