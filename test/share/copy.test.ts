import { describe, expect, it } from "vitest";
import { responseOf, sharedResponseOf } from "../../src/drain/cache-policy.ts";
import type { ClientResponse, HeaderList } from "../../src/model/http.ts";
import { fieldOf, list, PROVED, textOf } from "./support.ts";

async function* pieces(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("x");
}

function isGiven(more: HeaderList): boolean {
  return sharedResponseOf(list("x", more), 0) !== undefined;
}

function freshMs(more: HeaderList): number | undefined {
  return sharedResponseOf(list("x", more), 0)?.freshMs;
}

describe("an answer for others", () => {
  it("is the whole and proved list", () => {
    const copy = sharedResponseOf(list("records"), 7);
    expect(copy).toMatchObject({ began: 7, freshMs: Number.POSITIVE_INFINITY });
    expect(textOf(responseOf(copy!, 7))).toBe("records");
    expect(
      sharedResponseOf({ ...list("x"), headers: [["carryover-list", "witness=count; pages=2; records=201"]] }, 0),
    ).toBeDefined();
  });

  it("K4: is none with any other status", () => {
    for (const status of [201, 204, 206, 301, 304, 401, 403, 404, 429, 500, 503]) {
      expect(sharedResponseOf({ ...list("x"), status }, 0), String(status)).toBeUndefined();
    }
  });

  it("K4: is no stream", () => {
    expect(sharedResponseOf({ ...list("x"), body: pieces() }, 0)).toBeUndefined();
  });

  it("K4: is none without our own proof, or with two of them", () => {
    const proofs: HeaderList[] = [
      [],
      [...PROVED, ...PROVED],
      ...[
        "witness=none; pages=1; records=1",
        "witness=cover-or-abort",
        "witness=cover",
        "",
        "x witness=cover; pages=1; records=1",
      ].map((value): HeaderList => [["carryover-list", value]]),
    ];
    for (const headers of proofs) {
      const answer: ClientResponse = { status: 200, headers, body: Buffer.from("x") };
      expect(sharedResponseOf(answer, 0), JSON.stringify(headers)).toBeUndefined();
    }
  });

  it("K4: is none with a cookie", () => {
    expect(isGiven([["set-cookie", "a=b"]])).toBe(false);
  });

  it("K5: is none when the platform forbids keeping it, whatever else it says", () => {
    for (const value of [
      "no-store",
      "private, NO-STORE",
      "max-age=60, no-cache",
      'no-cache="x"',
      "max-age=0",
      "max-age=x",
      "max-age",
      "s-maxage=0",
    ]) {
      expect(isGiven([["cache-control", value]]), value).toBe(false);
    }
    expect(
      isGiven([
        ["cache-control", "private"],
        ["cache-control", "no-store"],
      ]),
    ).toBe(false);
    for (const value of ["private", "max-age=1", "public, must-revalidate"]) {
      expect(isGiven([["cache-control", value]]), value).toBe(true);
    }
  });

  it("K5: is none when it varies on what is not in the key", () => {
    for (const value of ["*", "accept, *", "User-Agent", "accept,x-forwarded-for"]) {
      expect(isGiven([["vary", value]]), value).toBe(false);
    }
    for (const value of ["Authorization", "Accept-Encoding", "accept, Accept-Language", "Origin", "cookie"]) {
      expect(isGiven([["vary", value]]), value).toBe(true);
    }
  });

  it("K6: is fresh for as long as the platform says, less the age that it came with", () => {
    expect(freshMs([["cache-control", "max-age=3"]])).toBe(3000);
    expect(freshMs([["cache-control", 's-maxage="2", max-age=3']])).toBe(2000);
    expect(
      freshMs([
        ["cache-control", "max-age=3"],
        ["age", "1"],
      ]),
    ).toBe(2000);
    expect(
      freshMs([
        ["expires", "Sat, 21 Nov 2026 10:00:04 GMT"],
        ["date", "Sat, 21 Nov 2026 10:00:00 GMT"],
      ]),
    ).toBe(4000);
  });

  it("K6: is none when it has expired, or nobody can tell", () => {
    expect(isGiven([["expires", "0"]])).toBe(false);
    expect(isGiven([["expires", "Sat, 21 Nov 2026 10:00:04 GMT"]])).toBe(false);
    for (const age of ["x", "-5", "3"]) {
      expect(
        isGiven([
          ["cache-control", "max-age=3"],
          ["age", age],
        ]),
        age,
      ).toBe(false);
    }
  });

  it("says its age, never less than it is", () => {
    const copy = sharedResponseOf(list("x", [["age", "2"]]), 1000)!;
    expect(fieldOf(responseOf(copy, 1000), "age")).toBe("2");
    expect(fieldOf(responseOf(copy, 2001), "age")).toBe("4");
    expect(responseOf(copy, 1000).headers.filter(([name]) => name === "age")).toHaveLength(1);
  });

  it("K15: tells nothing of the exchange that it was made in", () => {
    const of = [
      "x-request-id",
      "traceparent",
      "server-timing",
      "retry-after",
      "x-ratelimit-remaining",
      "ratelimit-reset",
    ];
    const copy = sharedResponseOf(list("x", [...of.map((name): [string, string] => [name, "1"]), ["x-kept", "1"]]), 0)!;
    expect(responseOf(copy, 0).headers).toEqual([...PROVED, ["x-kept", "1"], ["age", "0"]]);
  });
});
