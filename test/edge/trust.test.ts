import { describe, expect, it } from "vitest";
import { createTrustedProxies, plainAddress } from "../../src/edge/headers.ts";

describe("trusted proxies", () => {
  const trusts = createTrustedProxies(["10.1.0.0/16", "192.168.1.1", "fd00::/8"]);

  it.each([
    ["10.1.255.255", true],
    ["::ffff:10.1.0.1", true],
    ["10.2.0.1", false],
    ["192.168.1.1", true],
    ["192.168.1.2", false],
    ["fd12::1", true],
    ["fe80::1", false],
    ["", false],
  ])("%s is trusted: %s", (address, expected) => {
    expect(trusts(address)).toBe(expected);
  });

  it("are none by default", () => {
    expect(createTrustedProxies([])("127.0.0.1")).toBe(false);
  });

  it.each(["", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/8/8", "fd00::/129", "host"])("%j is no network", (network) => {
    expect(() => createTrustedProxies([network])).toThrow(RangeError);
  });

  it("see an IPv4 peer behind its IPv6 spelling", () => {
    expect([plainAddress("::ffff:1.2.3.4"), plainAddress("::1")]).toEqual(["1.2.3.4", "::1"]);
  });
});
