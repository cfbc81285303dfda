import { describe, expect, it } from "vitest";
import { configOptions, loadConfig } from "../../src/config/config.ts";
import { type OptionChange, writtenConfig } from "../../src/config/write.ts";

interface Given {
  readonly text?: string;
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly changes?: readonly OptionChange[];
}

/** The written text and, loaded alone, what it means. */
function written({ text, flags = {}, env = {}, changes = [] }: Given) {
  const file = text === undefined ? undefined : { name: "ours.yaml", text };
  const out = writtenConfig({ flags, env, file }, configOptions(), changes);
  const flagsOfTest = { config: "f", cutoverMode: "translate" };
  const { config } = loadConfig({ flags: flagsOfTest, env: {}, readFile: () => new TextEncoder().encode(out) });
  return { out, config };
}

describe("a written configuration", () => {
  it("without a file holds what was given and nothing else", () => {
    const { out } = written({ flags: { upstreamV2Url: "http://a" }, env: { CARRYOVER_LISTEN_PORT: "9000" } });
    expect(out).toBe("upstream:\n  v2:\n    url: http://a\nlisten:\n  port: 9000\n");
  });

  it("keeps comments and order of the file, and changes only what differs", () => {
    const text = "# top\nlog: { level: warn } # loud\nupstream:\n  v2:\n    # the platform\n    url: http://a\n";
    const { out } = written({ text, changes: [{ path: "upstream.v2.maskSpelling", value: "snake_case" }] });
    expect(out).toBe(`${text}    maskSpelling: snake_case\n`);
  });

  it("lets flags win over variables, variables over the file, and a change over all", () => {
    const text = "upstream: { v2: { url: http://a, version: v2 } }\nlog: { level: warn }\n";
    const { config } = written({
      text,
      flags: { upstreamV2Url: "http://c" },
      env: { CARRYOVER_UPSTREAM_V2_URL: "http://b", CARRYOVER_LOG_LEVEL: "error" },
      changes: [{ path: "upstream.v2.version", value: "v2beta1" }],
    });
    expect([config.upstream.v2.url, config.upstream.v2.version, config.log.level]).toEqual([
      "http://c",
      "v2beta1",
      "error",
    ]);
  });

  it("replaces a map by one word, and fills keys that had nothing behind them", () => {
    const text = "upstream:\n  v2: { url: http://a }\nlists:\n  require: { group: count }\nlog:\n";
    const { config } = written({
      text,
      flags: { logLevel: "error" },
      changes: [{ path: "lists.require", value: "none" }],
    });
    expect([config.lists.require, config.log.level]).toEqual([{ default: "none", resources: new Map() }, "error"]);
  });

  it("survives aliases, whose branches cannot be changed alone", () => {
    const text =
      "upstream:\n  v2: &p { url: http://a, version: v2 }\n  v1: { url: http://b, tls: &t {} }\n  sts: { url: http://c, tls: *t }\n";
    const { config } = written({ text, changes: [{ path: "upstream.v2.version", value: "v2beta1" }] });
    expect([config.upstream.v2.version, config.upstream.sts?.url]).toEqual(["v2beta1", "http://c"]);
    const shared =
      "upstream:\n  v2: { url: http://a, timeouts: &t { headersSeconds: 5s } }\n  v1: { url: http://b, timeouts: *t }\n";
    const { config: other } = written({ text: shared, flags: { upstreamV1TimeoutsHeadersSeconds: "7s" } });
    expect([other.upstream.v2.timeouts.headersSeconds, other.upstream.v1?.timeouts.headersSeconds]).toEqual([5, 7]);
  });

  it("writes texts that YAML would read as something else so that they stay texts", () => {
    const { config } = written({ flags: { upstreamV2Url: "http://a", upstreamV2Audience: "1e3" } });
    expect(config.upstream.v2.audience).toBe("1e3");
  });
});
