import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Problem } from "../../src/model/problem.ts";
import { v2PathOf } from "../../src/model/request.ts";
import { isUid } from "../../src/model/uid.ts";
import { decodePath, uidForPath } from "../../src/router/path.ts";
import { createRouter } from "../../src/router/router.ts";
import { NATIVES, RESOURCES } from "../router/fixture.ts";
import { PATH_PIECES } from "../support/hostile/targets.ts";

const route = createRouter({ resources: RESOURCES, natives: NATIVES, version: "v2beta1", extraPrefixes: ["/x"] });
const V2_PATH = /^\/(iam|registry|vulnerabilities)\/v2beta1\/[A-Za-z]+(\/[A-Za-z0-9._-]+)*$/;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

const segment = fc.stringMatching(/^[A-Za-z0-9._-]{1,12}$/).filter((text) => !/^\.+$/.test(text));
const uid = fc.array(segment, { minLength: 1, maxLength: 9 }).map((segments) => segments.join("/"));
/** Pieces that path attacks and honest paths are made of. */
const piece = fc.oneof(segment, fc.constantFrom(...PATH_PIECES, "%2e%2E", "%0d%0a", "\ud800"));
const start = fc.oneof(
  fc.constantFrom("/iam/v1/groups/", "/iam/v1/rolebindings/", "/registry/v1/repos/", "/registry/v1/", "/iam/v1/", "/"),
  fc.constantFrom(
    "/iam/v1/identities",
    "/vulnerabilities/v1/advisories",
    "/iam/",
    "",
    "xiam/v1/",
    "/iam/v1/group_invites/",
  ),
);
const target = fc.oneof(
  fc.tuple(start, fc.array(piece, { maxLength: 8 })).map(([head, pieces]) => head + pieces.join("")),
  fc.string({ unit: "binary", maxLength: 40 }),
);

/** What `route` says, or undefined when it refused; anything thrown but a Problem fails the test. */
function routed(method: string, path: string) {
  try {
    return route(method, path);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Problem);
    return undefined;
  }
}

describe("uids", () => {
  test("however its slashes are escaped, a uid is emitted in one form, and that form stays", () => {
    fc.assert(
      fc.property(
        uid,
        fc.array(fc.constantFrom("/", "%2F", "%2f"), { minLength: 9, maxLength: 9 }),
        (plain, slashes) => {
          let at = 0;
          const written = plain.replaceAll("/", () => slashes[at++] ?? "/");
          const emitted = uidForPath(decodePath(written));
          expect(emitted).toBe(plain);
          expect(uidForPath(decodePath(emitted))).toBe(emitted);
        },
      ),
    );
  });

  test("what has the shape of a uid is emitted, what has not is refused with a Problem", () => {
    const text = fc.oneof(
      uid,
      fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join("")),
      fc.string(),
    );
    fc.assert(
      fc.property(text, (candidate) => {
        if (isUid(candidate)) expect(uidForPath(candidate)).toBe(candidate);
        else expect(() => uidForPath(candidate)).toThrow(Problem);
      }),
    );
  });
});

describe("targets", () => {
  test("every accepted path leads to a canonical v2 path, any other is refused with a Problem", () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.constantFrom(...METHODS), target, (method, path) => {
        const answer = routed(method, path);
        const v2 =
          answer?.kind === "match"
            ? v2PathOf(answer.match, "v2beta1")
            : answer?.kind === "options"
              ? answer.v2Target
              : undefined;
        if (v2 === undefined) return;
        accepted += 1;
        expect(v2).toMatch(V2_PATH);
        expect(v2.split("/").some((part) => /^\.+$/.test(part))).toBe(false);
      }),
      { numRuns: 5000 },
    );
    // Of 5,000 made-up targets about 100 are good ones: enough to know that the property was not vacuous.
    expect(accepted).toBeGreaterThan(20);
  });

  test("only targets with a prefix of the API, its case kept, are ever forwarded", () => {
    fc.assert(
      fc.property(fc.constantFrom(...METHODS), target, (method, path) => {
        if (routed(method, path) === undefined) return;
        expect(path).toMatch(
          /^\/((iam|registry|vulnerabilities|events|advisory|libraries|ping)\/(v1|v2|v2beta1)(?![^/?])|x(?![^/?])|sts\/exchange(?![^?]))/,
        );
      }),
      { numRuns: 2000 },
    );
  });
});
