import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { figure } from "../../support/figures.ts";
import { type Front, front, reasonOf, TOKEN, V1, V2 } from "./front.ts";

let here: Front;
beforeAll(async () => {
  here = await front();
});
afterAll(() => here.close());

/** What becomes of `/groups` with this behind it: of v1 in carryover's own words for v2, of v2 as it is. */
const TAILS: readonly (readonly [tail: string, v1: "refused" | string, v2: "refused" | "same"])[] = [
  ["/%2e%2e/%2e%2e/admin", "refused", "refused"],
  ["/%2E%2e/admin", "refused", "refused"],
  ["/..%2fadmin", "refused", "refused"],
  ["/..%2Fadmin", "refused", "refused"],
  ["/.%2e/admin", "refused", "refused"],
  ["/%2e./admin", "refused", "refused"],
  ["/..\\admin", "refused", "refused"],
  ["/%5c..%5cadmin", "refused", "refused"],
  ["/..%5cadmin", "refused", "refused"],
  ["/..;/admin", "refused", "refused"],
  ["/..;x=y/admin", "refused", "refused"],
  ["/.;/a", "refused", "refused"],
  ["/./a", "refused", "refused"],
  ["/../../../admin", "refused", "refused"],
  ["/a/..", "refused", "refused"],
  ["/a/%2e%2e", "refused", "refused"],
  ["/a%2F..%2Fb", "refused", "refused"],
  ["/a%2f%2e%2e%2fb", "refused", "refused"],
  ["/a%5C%2e%2e%5Cb", "refused", "refused"],
  ["/a\\b", "refused", "refused"],
  ["/a#b", "refused", "refused"],
  ["/%252e%252e/admin", "refused", "same"],
  ["/%25252e", "refused", "same"],
  ["/%zz", "refused", "same"],
  ["/%", "refused", "same"],
  ["/%2", "refused", "same"],
  ["//a", "refused", "same"],
  ["/a//b", "refused", "same"],
  ["/%2F", "refused", "same"],
  ["/a%2F%2Fb", "refused", "same"],
  ["/%00", "refused", "same"],
  ["/a%0d%0aX:1", "refused", "same"],
  ["/a%09b", "refused", "same"],
  ["/a%7fb", "refused", "same"],
  ["%3Fadmin=1", "refused", "same"],
  ["%23x", "refused", "same"],
  [";x=1", "refused", "same"],
  ["/a;x=1", "refused", "same"],
  ["/a%3Bx", "refused", "same"],
  ["/a:verb", "refused", "same"],
  ["/a%3Averb", "refused", "same"],
  ["/a@evil.example", "refused", "same"],
  ["/http://evil.example/", "refused", "same"],
  ["/...", "refused", "same"],
  ["/a%20b", "refused", "same"],
  ["/a+b", "refused", "same"],
  ["/a*", "refused", "same"],
  ["/{a}", "refused", "same"],
  ["/a|b", "refused", "same"],
  ["/%C3%A4", "refused", "same"],
  ["/%c0%ae%c0%ae/admin", "refused", "same"],
  ["/%uff0e%uff0e/admin", "refused", "same"],
  ["/%ef%bc%8e%ef%bc%8e/admin", "refused", "same"],
  ["/%61bc", "refused", "same"],
  ["/a/", "refused", "same"],
  ["/a%2F", "refused", "same"],
  ["/a", "/a", "same"],
  ["/A1B2", "/A1B2", "same"],
  ["/a/b", "/a/b", "same"],
  ["/a%2Fb", "/a/b", "same"],
  ["/a%2fb%2Fc", "/a/b/c", "same"],
  ["/..a", "/..a", "same"],
  ["/a..", "/a..", "same"],
  ["/a_b-c.d", "/a_b-c.d", "same"],
];

/** Paths that no upstream ever sees, however they are spelled. */
const STRANGE = [
  "/IAM/V1/groups",
  "/iam/V1/groups",
  "/Iam/v2beta1/groups",
  "/iam/v1x/groups",
  "/iam/v2beta1x/groups",
  "/iam/v1;x=1/groups",
  "/iam;x/v2beta1/groups",
  "/iam/v2beta1;x=1/groups",
  "/%69am/v1/groups",
  "/%69am/v2beta1/groups",
  "/iam%2Fv1/groups",
  "/iam%2Fv2beta1/groups",
  "/iam/v2beta1%2Fgroups",
  "/iam/%762beta1/groups",
  "/iam//v1/groups",
  "/iam//v2beta1/groups",
  "//iam/v1/groups",
  "//iam/v2beta1/groups",
  "/./iam/v2beta1/groups",
  "/x/../iam/v2beta1/groups",
  "/iam\\v2beta1\\groups",
  "/iam/v2beta1\\groups",
  "/x?/iam/v2beta1/groups",
  "/x#/iam/v2beta1/groups",
  "/iam.v2beta1/groups",
  "/iam/v2beta1.groups",
  "/%2Fiam/v2beta1/groups",
  "/ iam/v2beta1/groups",
  "/latest/meta-data/",
  "/metrics",
  "/healthz",
  "/readyz",
  "/admin",
  "/debug/pprof",
  "/.well-known/openid-configuration",
  "/favicon.ico",
  "/",
  "/iam",
  "/iam/",
  "/sts/exchange",
  "/sts/exchange/",
];

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** The only targets that ever reach the platform here. */
const ALLOWED = /^[A-Z]+ \/iam\/v2beta1\/groups[\x21-\x7e]* HTTP\/1\.1$/;
const DOTS = /(?:\/|\\|%2f|%5c)(?:\.|%2e){1,2}(?:;[^/]*)?(?:\/|\\|%2f|%5c|[? ])/i;

describe("T-SMG-27: a path", () => {
  it.each(TAILS)("of v1 that ends in %s goes nowhere, or to one place in one spelling", async (tail, v1) => {
    const { answer, sent } = await here.ask(`GET ${V1}${tail}`, TOKEN);
    const lines = sent.map(({ line }) => line);
    if (v1 === "refused") {
      expect([answer.status, lines]).toEqual([400, []]);
      expect(["INVALID_PATH", "INVALID_REQUEST"]).toContain(reasonOf(answer));
    } else expect([answer.status, lines]).toEqual([200, [`GET ${V2}${v1} HTTP/1.1`]]);
  });

  it.each(TAILS)("of v2 that ends in %s goes on as it is, or nowhere", async (tail, _, v2) => {
    for (const method of METHODS) {
      const { answer, sent } = await here.ask(`${method} ${V2}${tail}`, TOKEN);
      const lines = sent.map(({ line }) => line);
      if (v2 === "refused") expect([answer.status, lines]).toEqual([400, []]);
      else expect([answer.status, lines]).toEqual([200, [`${method} ${V2}${tail} HTTP/1.1`]]);
    }
  });

  it("with a write's method is refused as with GET", async () => {
    for (const [tail] of TAILS.filter(([, v1]) => v1 === "refused")) {
      for (const method of ["PUT", "DELETE", "POST"]) {
        const { answer, sent } = await here.ask(`${method} ${V1}${tail}`, `${TOKEN}Content-Length: 2\r\n`, "{}");
        expect([method, tail, answer.status, sent.length]).toEqual([method, tail, 400, 0]);
      }
    }
  });

  it.each(STRANGE)("%s is of nobody, whatever is asked of it", async (path) => {
    for (const method of METHODS) {
      const { answer, sent } = await here.ask(`${method} ${path}`, TOKEN);
      expect([method, (answer.status >= 400 && answer.status < 500) || answer.status === 501]).toEqual([method, true]);
      expect(sent).toEqual([]);
    }
  });

  it("below a base path is judged with it, and the base path alone is taken off", async () => {
    const based = await front(undefined, { listenBasePath: "/front" });
    try {
      for (const path of [
        "/front//iam/v2beta1/groups",
        "/front%2Fiam/v2beta1/groups",
        "/%66ront/iam/v2beta1/groups",
        "/front/../iam/v2beta1/groups",
        "/Front/iam/v2beta1/groups",
        "/frontier/iam/v2beta1/groups",
        "/front/front/iam/v2beta1/groups",
        "/iam/v2beta1/groups",
        "//front/iam/v2beta1/groups",
      ]) {
        const { answer, sent } = await based.ask(`GET ${path}`, TOKEN);
        expect([path, [400, 404].includes(answer.status), sent]).toEqual([path, true, []]);
      }
      const { sent } = await based.ask("GET /front/iam/v2beta1/groups?/front", TOKEN);
      expect(sent.map(({ line }) => line)).toEqual([`GET ${V2}?/front HTTP/1.1`]);
    } finally {
      await based.close();
    }
  });
});

describe("T-SMG-28: a uid", () => {
  const HEX = "0123456789abcdef0123456789abcdef01234567";
  const uid = (levels: number) => HEX + "/89abcdef01234567".repeat(levels - 1);

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "of %i levels is one path upstream, however its slashes are written",
    async (levels) => {
      const wanted = `${V2}/${uid(levels)}`;
      for (const slash of ["/", "%2F", "%2f"]) {
        const target = `${V1}/${uid(levels).replaceAll("/", slash)}`;
        for (const [method, as] of [
          ["GET", `GET ${wanted}`],
          ["DELETE", `DELETE ${wanted}`],
          ["POST", `POST ${wanted}`],
        ] as const) {
          const { answer, sent } = await here.ask(`${method} ${target}`, `${TOKEN}Content-Length: 0\r\n`);
          expect(answer.status).not.toBe(414);
          expect(sent.map(({ line }) => line)).toEqual([`${as} HTTP/1.1`]);
        }
      }
    },
  );

  it("in upper case stays in upper case", async () => {
    const { sent } = await here.ask(`GET ${V1}/${HEX.toUpperCase()}`, TOKEN);
    expect(sent.map(({ line }) => line)).toEqual([`GET ${V2}/${HEX.toUpperCase()} HTTP/1.1`]);
  });

  it("with bytes beyond ASCII, as they are, is refused in v1", async () => {
    for (const tail of ["/\xc3\xa4", "/\xff", "/a\xc0\xaf.."]) {
      const { answer, sent } = await here.ask(`GET ${V1}${tail}`, TOKEN);
      expect([answer.status, sent]).toEqual([400, []]);
    }
  });
});

describe("after all this", () => {
  it("T-SMG-27: nothing outside of the API's prefixes has reached the platform, and no dot segment", () => {
    const lines = here.platform.requests.map(({ line }) => line);
    expect(lines.length).toBeGreaterThan(300);
    expect(lines.filter((line) => !ALLOWED.test(line))).toEqual([]);
    expect(lines.filter((line) => DOTS.test(line.split("?")[0] ?? ""))).toEqual([]);
    figure("T-SMG-27", "spellings of paths that were tried", 4 * TAILS.length + STRANGE.length, "paths");
  });
});
