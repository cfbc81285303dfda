import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { assumedConfig, type ConfigInput, loadConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/faults.ts";
import { EXPIRED } from "../commands/check/certificates.ts";
import { LOCALHOST, OTHER_NAME } from "../server/support/certificates.ts";

const BROKEN = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
const LOCKED = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-128-cbc", passphrase: "secret" },
}).privateKey;

function input(files: Readonly<Record<string, string>>, upstream = "v2"): ConfigInput {
  const others = upstream === "v2" ? [] : [`  ${upstream}:`, "    url: https://other.example"];
  const yaml = ["upstream:", "  v2:", "    url: https://api.example", ...others, "    tls:"];
  for (const kind of Object.keys(files)) yaml.push(`      ${kind}: ${kind}.pem`);
  const all = new Map(Object.entries(files).map(([kind, text]) => [`${kind}.pem`, text]));
  return {
    flags: { config: "c.yaml", cutoverMode: "translate" },
    env: {},
    readFile: (path) => Buffer.from(path === "c.yaml" ? yaml.join("\n") : (all.get(path) ?? "")),
  };
}

function faults(given: ConfigInput): readonly string[] {
  try {
    loadConfig(given);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map((f) => `${f.where}: ${f.what}; ${f.remedy}`);
    throw error;
  }
}

describe("certificates and keys", () => {
  test.each<[string, Record<string, string>]>([
    ["a certificate and its key", { certFile: LOCALHOST.cert, keyFile: LOCALHOST.key }],
    ["a chain and the key of its first", { certFile: `${LOCALHOST.cert}\n${OTHER_NAME.cert}`, keyFile: LOCALHOST.key }],
    [
      "several authorities, with words between them",
      { caFile: `# ours\n${LOCALHOST.cert}\n# theirs\n${EXPIRED.cert}` },
    ],
    ["a file of 1 MiB", { caFile: LOCALHOST.cert.padEnd(1024 ** 2) }],
  ])("%s are taken", (_, files) => {
    expect(faults(input(files))).toEqual([]);
  });

  const blanks = " ".repeat(1024 ** 2);
  test.each<[string, Record<string, string>, RegExp]>([
    [
      "a key of another certificate",
      { certFile: LOCALHOST.cert, keyFile: OTHER_NAME.key },
      /^c\.yaml:\d+:\d+ upstream\.v2\.tls\.keyFile: keyFile\.pem is not the key of the certificate in certFile\.pem .*; set upstream\.v2\.tls\.certFile and keyFile to/,
    ],
    [
      "a certificate file without one",
      { certFile: "hello", keyFile: LOCALHOST.key },
      /^c\.yaml:\d+:\d+ upstream\.v2\.tls\.certFile: certFile\.pem holds no certificate that can be used .*; name a PEM file/,
    ],
    [
      "a certificate where the key should be",
      { certFile: LOCALHOST.cert, keyFile: LOCALHOST.cert },
      /upstream\.v2\.tls\.keyFile: keyFile\.pem holds no private key that can be used .*; name a PEM file/,
    ],
    [
      "a key with a passphrase",
      { certFile: LOCALHOST.cert, keyFile: LOCKED },
      /upstream\.v2\.tls\.keyFile: .*without a passphrase$/,
    ],
    [
      "an authority's file without a certificate",
      { caFile: "hello" },
      /^c\.yaml:\d+:\d+ upstream\.v2\.tls\.caFile: caFile\.pem holds no certificate in PEM form; name a PEM file/,
    ],
    [
      "an authority that breaks off behind a good one",
      { caFile: `${LOCALHOST.cert}\n${BROKEN}` },
      /upstream\.v2\.tls\.caFile: caFile\.pem holds a certificate that cannot be read, the 2\. of 2 /,
    ],
    [
      "a file of more than 1 MiB",
      { caFile: `${LOCALHOST.cert}\n${blanks}` },
      /^c\.yaml:\d+:\d+ upstream\.v2\.tls\.caFile: caFile\.pem has more than 1048576 bytes; name a PEM file .* to trust$/,
    ],
    [
      "such a certificate with its key",
      { certFile: `${LOCALHOST.cert}\n${blanks}`, keyFile: LOCALHOST.key },
      /upstream\.v2\.tls\.certFile: certFile\.pem has more than 1048576 bytes; name a PEM file/,
    ],
    [
      "such a key",
      { certFile: LOCALHOST.cert, keyFile: `${LOCALHOST.key}\n${blanks}` },
      /upstream\.v2\.tls\.keyFile: keyFile\.pem has more than 1048576 bytes; name a PEM file/,
    ],
  ])("%s is refused, once", (_, files, says) => {
    expect(faults(input(files))).toEqual([expect.stringMatching(says)]);
  });

  test.each(["v1", "sts"])("those of upstream.%s are looked at as well", (upstream) => {
    expect(faults(input({ caFile: "hello" }, upstream))).toEqual([
      expect.stringContaining(`upstream.${upstream}.tls.caFile: caFile.pem holds no certificate`),
    ]);
  });

  test("a command that calls no platform does not look at them", () => {
    expect(assumedConfig(input({ caFile: "hello" })).known).toBe(true);
  });
});
