import { describe, expect, it } from "vitest";
import { runCommand } from "../../../scripts/command.ts";

const V2 = ["--upstream-v2-url", "https://api.example.com"];

/** What else is refused: test/cli.test.ts. */
describe("T-LOD-13: a start is refused with 64, and the place is named, for", () => {
  it.each<[string, string[], Record<string, string>, string | undefined, RegExp]>([
    ["a flag that there is not", [...V2, "--upstream-v2-ulr", "x"], {}, undefined, /--upstream-v2-ulr/],
    ["a variable that there is not", V2, { CARRYOVER_LIMITS_INFLIGHT: "1" }, undefined, /CARRYOVER_LIMITS_INFLIGHT/],
    ["a value of the wrong kind", V2, {}, "listen:\n  port: many", /carryover\.yaml:2:\d+ listen\.port/],
    [
      "a value that is too large",
      [...V2, "--listen-shutdown-delay-seconds", "1h"],
      {},
      undefined,
      /--listen-shutdown-delay-seconds/,
    ],
    ["one port for two", [...V2, "--admin-port", "8080"], {}, undefined, /admin(?:\.|-)port/],
    [
      "a certificate for http",
      ["--upstream-v2-url=http://a", "--upstream-v2-tls-ca-file=ca"],
      {},
      undefined,
      /tls-ca-file/,
    ],
    [
      "a file that is not there",
      [...V2, "--admin-token-file=token"],
      {},
      undefined,
      /token-file: token cannot be read/,
    ],
    ["a file that is no YAML", V2, {}, "a: [", /carryover\.yaml:1/],
    ["a key twice", V2, {}, "log: {}\nlog: {}", /carryover\.yaml:2/],
    [
      "a network that is none",
      [...V2, "--listen-trusted-proxies=10.0.0.0/33"],
      {},
      undefined,
      /--listen-trusted-proxies/,
    ],
  ])("%s", async (_, flags, env, file, named) => {
    const { code, err } = await runCommand(
      ["serve", ...(file === undefined ? [] : ["--config", "carryover.yaml"]), ...flags],
      {
        env,
        files: file === undefined ? {} : { "carryover.yaml": file },
        onStop: () => {
          throw new Error("it listens");
        },
      },
    );
    expect([code, err]).toEqual([64, expect.stringMatching(named)]);
  });
});
