import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { ConfigError, faultText } from "../../src/config/faults.ts";
import { LOCALHOST } from "../server/support/certificates.ts";

const FILES = new Map([
  ["password", "secret-password"],
  ["ca.pem", LOCALHOST.cert],
  ["other.pem", "nonsense"],
]);

function load(flags: Readonly<Record<string, string>>) {
  const readFile = (path: string): Uint8Array => {
    const text = FILES.get(path);
    if (text === undefined) throw new Error("ENOENT");
    return Buffer.from(text);
  };
  return loadConfig({ flags: { upstreamV2Url: "http://127.0.0.1:1", ...flags }, env: {}, readFile });
}

function faultsOf(flags: Readonly<Record<string, string>>): readonly string[] {
  try {
    load(flags);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(faultText);
    throw error;
  }
}

const URL = "rediss://valkey.example:6379";

describe("the options of a shared store", () => {
  test("are complete, but for the password, which is read for each connection", () => {
    const flags = { stateUrl: URL, stateUsername: "a", statePasswordFile: "password", stateTlsCaFile: "ca.pem" };
    const { config, warnings } = load(flags);
    expect(config.state).toMatchObject({ url: URL, prefix: "carryover", tlsFiles: { caFile: "ca.pem" } });
    expect(JSON.stringify(config)).not.toContain("secret-password");
    expect(warnings).toEqual([]);
  });

  test.each([
    ["http://valkey:6379", "the scheme is neither redis nor rediss"],
    ["redis://:pw@valkey:6379", "the URL holds credentials"],
    ["redis://valkey:6379/1", "the URL holds more than host and port"],
    ["redis://valkey?a=b", "the URL holds more than host and port"],
    ["valkey", "this is not a URL"],
  ])("refuse %s", (stateUrl, fault) => {
    const [text = ""] = faultsOf({ stateUrl });
    expect(text).toContain(fault);
    expect(text).not.toContain("pw@");
  });

  test.each([
    [{ statePasswordFile: "password" }, "--state-password-file: has no effect without state.url"],
    [{ stateTlsCaFile: "ca.pem" }, "--state-tls-ca-file: has no effect without state.url"],
    [{ stateUrl: URL, stateUsername: "a" }, "--state-username: has no effect without state.passwordFile"],
    [{ stateUrl: "redis://a", stateTlsCaFile: "ca.pem" }, "--state-tls-ca-file: has no effect: state.url is redis"],
    [{ stateUrl: URL, stateTlsCertFile: "ca.pem" }, "--state-tls-cert-file: has no effect without keyFile"],
    [{ stateUrl: URL, stateTlsCaFile: "other.pem" }, "--state-tls-ca-file: other.pem holds no certificate in PEM form"],
    [{ stateUrl: URL, statePasswordFile: "missing" }, "--state-password-file: missing cannot be read"],
    [{ stateUrl: URL, statePrefix: "a b" }, "--state-prefix"],
  ])("refuse %j", (flags, fault) => {
    const faults = faultsOf(flags as unknown as Record<string, string>);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });

  test("warn of a password that goes to another machine without TLS", () => {
    const password = { statePasswordFile: "password" };
    expect(load({ stateUrl: "redis://valkey.example", ...password }).warnings).toHaveLength(1);
    expect(load({ stateUrl: "redis://127.0.0.1:6379", ...password }).warnings).toEqual([]);
  });
});
