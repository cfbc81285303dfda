import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { explainPage } from "../../../scripts/docs/explain.ts";
import { explainWith } from "./support.ts";

const PUT = ["PUT /iam/v1/groups/a/b", "-d", '{"name":"it\'s"}'];
const ESCAPE = "\u001b[";

describe("the exit code", () => {
  test.each<[string, number, readonly string[]]>([
    ["0: explained", 0, PUT],
    ["0: passes through", 0, ["GET /iam/v2/groups"]],
    ["1: carryover would refuse it", 1, ["GET /iam/v1/groups/a/../b"]],
    ["1: the body cannot be read", 1, ["PUT /iam/v1/groups/a", "-d", "{"]],
    ["2: no request", 2, []],
    ["2: an empty request", 2, [""]],
    ["2: an unknown option", 2, ["GET /a", "--nonsense"]],
    ["2: a missing file", 2, ["PUT /iam/v1/groups/a", "-d", "@nowhere"]],
    ["2: a curl command line", 2, ["curl https://x/a"]],
    ["2: two forms at once", 2, [...PUT, "--json", "--curl"]],
    ["2: a configuration that is wrong", 2, [...PUT, "--upstream-v2-url", "no url"]],
    ["2: a version without a catalogue", 2, [...PUT, "--upstream-v2-version", "v2alpha9"]],
  ])("%s", async (_, code, words) => {
    const result = await explainWith(words);
    expect(result.code).toBe(code);
    // What is explained goes to standard output, also a refusal; what is wrong with the question does not.
    expect([result.out !== "", result.err !== ""]).toEqual(code === 2 ? [false, true] : [true, false]);
  });

  test("0: help is asked for, and names the forms", async () => {
    const { code, out } = await explainWith(["--help"]);
    expect(code).toBe(0);
    for (const word of ["--data", "--header", "--json", "--curl", "--config", "--upstream-v2-url"])
      expect(out).toContain(word);
  });
});

test("the text is what docs/explain.md shows (`npm run docs` regenerates it)", async () => {
  expect(await explainPage()).toBe(readFileSync(new URL("../../../docs/explain.md", import.meta.url), "utf8"));
});

describe("input", () => {
  test("the request may come on standard input", async () => {
    const list = "GET /iam/v1/groups";
    expect(await explainWith(["-"], { stdin: `${list}\n` })).toEqual(await explainWith([list]));
  });

  test("a body comes from a file, or from standard input", async () => {
    const inline = await explainWith(["PUT /iam/v1/groups/a", "-d", '{"name":"x"}']);
    const around = { files: { "body.json": '{"name":"x"}' }, stdin: '{"name":"x"}' };
    expect(await explainWith(["PUT /iam/v1/groups/a", "-d", "@body.json"], around)).toEqual(inline);
    expect(await explainWith(["PUT /iam/v1/groups/a", "-d", "@-"], around)).toEqual(inline);
  });
});

describe("configuration", () => {
  test("is read as serve reads it, less the files that only a running process needs", async () => {
    const yaml =
      "upstream: { v2: { url: 'https://api.example.com/base/', tls: { caFile: /nowhere/ca.pem } } }\nadmin: { tokenFile: /nowhere/token }\n";
    const { out, err } = await explainWith(["GET /iam/v1/groups", "--config", "c.yaml"], { files: { "c.yaml": yaml } });
    expect(err).toBe("");
    expect(out).toContain("GET https://api.example.com/base/iam/v2beta1/groups?page_size=200");
  });

  test("comes from variables too, and without an address of v2 there is a name for it", async () => {
    const env = { CARRYOVER_UPSTREAM_V2_VERSION: "v2", CARRYOVER_UNKNOWN_FIELDS_REQUEST: "refuse" };
    const { out, code } = await explainWith(["PUT /iam/v1/groups/a", "-d", '{"x":1}'], { env });
    expect([code, out]).toEqual([1, expect.stringContaining("unknownFields.request")]);
    const list = await explainWith(["GET /iam/v1/groups"], { env });
    expect(list.out).toContain("GET $V2/iam/v2/groups");
  });

  test("that is wrong elsewhere is not covered up by a missing address", async () => {
    const { code, err } = await explainWith(["GET /iam/v1/groups", "--listen-port", "x"]);
    expect([code, err]).toEqual([2, expect.stringContaining("--listen-port")]);
  });
});

describe("colours", () => {
  test("are for a terminal, and for nobody who does not want them", async () => {
    const plain = await explainWith(PUT);
    expect(plain.out).not.toContain(ESCAPE);
    const coloured = await explainWith(PUT, { isTerminal: true });
    expect(coloured.out).toContain(ESCAPE);
    expect((await explainWith(PUT, { isTerminal: true, env: { NO_COLOR: "1" } })).out).toBe(plain.out);
    const bare = coloured.out.replaceAll(new RegExp(`${"\\u001b"}\\[\\d+m`, "g"), "");
    expect(bare).toBe(plain.out);
  });
});

describe("--curl", () => {
  /** The words of each line, as a shell would hand them to curl. */
  function words(out: string, env: Record<string, string>): string[][] {
    const script = `curl() { printf '%s\\0' "$@"; printf '\\n\\0'; }\n${out}`;
    const { stdout, status, stderr } = spawnSync("bash", ["--norc", "-euc", script], { encoding: "utf8", env });
    expect([status, stderr]).toEqual([0, ""]);
    return stdout
      .split("\n\0")
      .slice(0, -1)
      .map((line) => line.split("\0").slice(0, -1));
  }

  test("pastes into a shell, and says there what was explained", async () => {
    const body = '{"name":"it\'s $HOME `x` \\"!\\"","verified":true}';
    const { out } = await explainWith([
      "PUT /iam/v1/groups/a/b",
      "-d",
      body,
      "-H",
      "authorization: Bearer abc",
      "--curl",
    ]);
    const lines = words(out, { TOKEN: "secret", V2: "https://api.example.com" });
    expect(lines).toEqual([
      ["-sS", "https://api.example.com/iam/v2beta1/groups/a/b", "-H", "Authorization: Bearer secret"],
      [
        "-sS",
        "-X",
        "PATCH",
        "https://api.example.com/iam/v2beta1/groups/a/b?updateMask=name,description,verified",
        "-H",
        "Authorization: Bearer secret",
        "-H",
        "content-type: application/json",
        "--data-raw",
        '{"name":"it\'s $HOME `x` \\"!\\"","description":"","verified":true}',
      ],
    ]);
  });

  test("of a refused request is a comment alone", async () => {
    const { out, code } = await explainWith(["PUT /iam/v1/groups/a", "-d", "{", "--curl"]);
    expect([code, out]).toEqual([1, expect.stringMatching(/^# nothing is sent: 400 INVALID_BODY[^\n]*\n$/)]);
  });
});

describe("secrets", () => {
  const asked = [
    "PUT https://user:SENTINEL-5@api.example.com/iam/v1/identityProviders/a/b?code=SENTINEL-2",
    ...[
      "-H",
      "Authorization: Bearer SENTINEL-1",
      "-H",
      "X-Api-Key: SENTINEL-3",
      "-H",
      "Cookie: session=SENTINEL-4",
      "-d",
    ],
    '{"name":"x","oidc":{"issuer":"https://i.example.com","clientSecret":"SENTINEL-7"},"token":"SENTINEL-8"}',
  ];

  test.each([[[]], [["--json"]], [["--curl"]]])("are never shown with %j", async (flags) => {
    for (const more of [[], ["-H", "Authorization: Basic SENTINEL-6"]]) {
      const { out, err } = await explainWith([...asked, ...more, ...flags]);
      expect(out).not.toBe("");
      expect(out + err).not.toContain("SENTINEL");
    }
  });

  test("that a curl line lacks are named", async () => {
    const { out } = await explainWith([...asked, "--curl"]);
    expect(out).toContain('"clientSecret":"…"');
    expect(out).toContain("# secrets are not shown: put them where … stands");
  });
});
