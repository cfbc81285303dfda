import { describe, expect, test } from "vitest";
import { explainWith } from "./support.ts";

const RULES = `version: carryover/v1
rules:
  - name: ci
    match: { client: ci-bot, operation: reads }
    mode: native
    expires: 2199-12-01
  - name: canary
    match: { header: { x-canary: always } }
    mode: shadow
  - name: rest
    match: {}
    mode: translate
`;
const FILES = { "rules.yaml": RULES };
const GROUPS = "GET /iam/v1/groups";
const UNDER = ["--rules", "rules.yaml"];

const WITHOUT_CONFIGURATION = expect.stringMatching(/^warning: without a configuration the client's bucket is/);

async function cutoverOf(words: readonly string[], around: Parameters<typeof explainWith>[1] = { files: FILES }) {
  const { out, err } = await explainWith([...words, "--json"], around);
  if (out === "") throw new Error(err);
  return JSON.parse(out).cutover;
}

describe("the bucket", () => {
  const bucketWith = async (words: readonly string[], salt = "hello\n") => {
    const bases = ["--upstream-v2-url", "http://v2.example", "--upstream-v1-url", "http://v1.example"];
    const asked = [GROUPS, ...UNDER, ...bases, ...words, "--client", "ci-bot", "--json"];
    const { out, err } = await explainWith(asked, { files: { ...FILES, salt } });
    if (out === "") throw new Error(err);
    return JSON.parse(out).cutover.bucket;
  };

  test("is that of the salt in cutover.saltFile, as with serve", async () => {
    const bucket = await bucketWith(["--cutover-salt-file", "salt"]);
    expect(bucket).toBe(await bucketWith(["--cutover-salt", "hello"]));
    expect(bucket).not.toBe(await bucketWith(["--cutover-salt-file", "salt"], "another"));
  });

  test("is not told where that file is missing", async () => {
    await expect(bucketWith(["--cutover-salt-file", "nowhere"])).rejects.toThrow("nowhere cannot be read");
  });
});

describe("the text", () => {
  test("names the client, its bucket, each rule up to the one that takes it, and what follows", async () => {
    const { out, code, err } = await explainWith([GROUPS, ...UNDER, "--client", "ci-bot", "--at", "2026-12-01"], {
      files: FILES,
    });
    expect([code, err]).toEqual([0, WITHOUT_CONFIGURATION]);
    const lines = out.split("\n");
    expect(lines[1]).toBe("list of group: native v1 serves it (native: rule ci)");
    const at = lines.indexOf("Rules");
    expect(lines[at + 1]).toMatch(/^ {2}client ci-bot, bucket \d+\.\d, at 2026-12-01T00:00:00\.000Z$/);
    expect(lines[at + 2]).toMatch(/^ {2}ci +native +takes it +everything it asks for holds +line 3$/);
    expect(lines[at + 3]).toBe("  native v1 answers, and nothing is compared");
    expect(out).toContain("\nCalls\n  1  GET $V1/iam/v1/groups\n");
    expect(out).toContain("\nCalls, if it were translated\n  1  GET $V2/iam/v2beta1/groups?");
    expect(out).toContain("\nAnswer, if it were translated\n");
  });

  test("has the bucket and the mode of the configuration that is named, and no warning then", async () => {
    const config = `upstream: { v2: { url: https://v2.example }, v1: { url: https://v1.example } }
cutover: { mode: native, salt: acme }
`;
    const files = { "rules.yaml": "version: carryover/v1\nrules: []\n", "carryover.yaml": config };
    const words = [GROUPS, ...UNDER, "--client", "ci-bot"];
    const named = await explainWith([...words, "--config", "carryover.yaml"], { files });
    const unnamed = await explainWith(words, { files });
    expect([named.err, unnamed.err]).toEqual(["", WITHOUT_CONFIGURATION]);
    const bucket = ({ out }: { readonly out: string }) => /bucket (\d+\.\d)/.exec(out)?.[1];
    expect(bucket(named)).not.toBe(bucket(unnamed));
    expect(named.out).toContain("native v1 serves it");
    expect(unnamed.out).not.toContain("native v1 serves it");
  });

  test("as curl lines has native's call, and those of the translation behind a remark", async () => {
    const { out } = await explainWith([GROUPS, ...UNDER, "--client", "ci-bot", "--curl"], { files: FILES });
    const [native, remark, translated] = out.split("\n\n");
    expect(native).toContain(`"$V1"'/iam/v1/groups'`);
    expect(remark).toBe("# if it were translated:");
    expect(translated).toContain(`"$V2"'/iam/v2beta1/groups`);
  });
});

describe("which rules", () => {
  test("--rules goes before cutover.rulesFile, which goes before none", async () => {
    const files = {
      ...FILES,
      "other.yaml": RULES.replace("rest", "other"),
      "c.yaml": "cutover: { rulesFile: other.yaml }\n",
    };
    expect((await cutoverOf([GROUPS, "--config", "c.yaml"], { files })).rule).toBe("other");
    expect((await cutoverOf([GROUPS, "--config", "c.yaml", ...UNDER], { files })).rule).toBe("rest");
    expect(await cutoverOf([GROUPS], { files })).toBeNull();
  });

  test("--at is the instant at which they are looked at", async () => {
    const as = [...UNDER, "--client", "ci-bot", "--at"];
    expect((await cutoverOf([GROUPS, ...as, "2199-11-30T23:59:59Z"])).rule).toBe("ci");
    expect(await cutoverOf([GROUPS, ...as, "2199-12-01"])).toMatchObject({
      rule: "rest",
      at: "2199-12-01T00:00:00.000Z",
    });
  });

  test("that expired are no error: it is told what they do now, and warned of", async () => {
    const old = { files: { "rules.yaml": RULES.replace("2199", "2020") } };
    const { code, out, err } = await explainWith([GROUPS, ...UNDER, "--client", "ci-bot"], old);
    expect(code).toBe(0);
    expect(out).toMatch(/^ {2}ci +native +passed over +expired on 2020-12-01/m);
    expect(err).toMatch(/^warning: rules\.yaml:\d+/m);
    const then = await explainWith([GROUPS, ...UNDER, "--at", "2199-12-02"], { files: FILES });
    expect(then.err).toMatch(/^warning at 2199-12-02T00:00:00\.000Z \(--at\): rules\.yaml:\d+.* is over/m);
  });
});

test("a configuration without its mode is explained as translated, with a warning: serve would refuse it", async () => {
  const both = ["--upstream-v2-url", "http://v2.test", "--upstream-v1-url", "http://v1.test"];
  const { code, out, err } = await explainWith([GROUPS, ...both]);
  expect([code, out.split("\n")[1]]).toEqual([0, expect.stringContaining("translated")]);
  expect(err).toMatch(/^warning: cutover\.mode is not set, and serve requires it: /);
  expect((await explainWith([GROUPS, ...both, "--cutover-mode", "native"])).err).toBe("");
});

test("without rules native v1 keeps what is guessed, and nothing else that is translated", async () => {
  const upstreams = ["--upstream-v2-url", "http://v2.test", "--upstream-v1-url", "http://v1.test"];
  const said = async (request: string, ...flags: readonly string[]) =>
    (await explainWith([request, ...upstreams, "--cutover-mode", "translate", ...flags])).out.split("\n", 3).join("\n");
  const summary = "GET /registry/v1/repotagssummary/A";
  expect(await said(summary)).toContain("native: what v1 answers is guessed, and no rule names the operation");
  expect(await said(summary, "--fallback", "refuse")).toContain("translated, 1 call to v2");
  expect(await said(GROUPS)).toContain("translated, 1 call to v2");
});

describe("what is no question", () => {
  test.each([
    [[...UNDER], { "rules.yaml": "rules: 1\n" }, /rules\.yaml:1:\d+/],
    [[...UNDER], {}, /--rules: rules\.yaml cannot be read/],
    [[...UNDER, "--at", "soon"], FILES, /--at: "soon" is not a time/],
    [["--client", "ci-bot"], {}, /--client and --at are about rules: name their file with --rules/],
    [["--at", "2026-12-01"], {}, /--client and --at are about rules/],
    [[...UNDER, "--upstream-v2-url", "http://v2.test"], FILES, /rules\.yaml:5:\d+.*upstream\.v1\.url/],
  ])("%j ends with 2, and says what is wrong", async (flags, files, told) => {
    const { code, out, err } = await explainWith([GROUPS, ...flags], { files });
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(told);
  });
});
