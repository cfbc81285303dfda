import { describe, expect, it } from "vitest";
import type { SendLayer } from "../../../src/model/http.ts";
import { rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { ask, askH2 } from "./ask.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import { startProxy } from "./proxy.ts";

takeDownAfterEach();

const RECORDS = 16_000;
const TARGET = "/iam/v1/groups";
/** Behind this page of 200 the platform waits, or fails: far behind the first bytes, and before the last. */
const PAGE = 60;

/** Calls of one caller for pages beyond `PAGE` wait for `what`, and are what it says. */
function beyond(what: () => Promise<"serve" | "fail">): SendLayer {
  const pages = new Map<string | undefined, number>();
  return (next) => async (request, options) => {
    if (!request.target.startsWith("/iam/v2beta1/groups?")) return next(request, options);
    const caller = request.headers.find(([name]) => name === "authorization")?.[1];
    const page = (pages.get(caller) ?? 0) + 1;
    pages.set(caller, page);
    if (page <= PAGE || (await what()) === "serve") return next(request, options);
    return { status: 500, headers: [], body: new TextEncoder().encode('{"code":13,"message":"broken","details":[]}') };
  };
}

async function between(program: Program, faults: SendLayer) {
  const { url: carryoverUrl, adminUrl, sandboxUrl, sandbox } = await rigForTest({ sandbox: { size: RECORDS, faults } });
  const proxy = await startProxy(program, { carryoverUrl, adminUrl, platformUrl: sandboxUrl });
  const list = (name: string) => ({ target: TARGET, headers: ["Authorization", `Bearer ${sandbox.token(name)}`] });
  return { ...proxy, list };
}

describe.each(PROGRAMS)("$title", (program) => {
  it("passes the first bytes of a list of 5 MiB on before its last page is read", async () => {
    let open: (what: "serve") => void = () => {};
    const seen = new Promise<"serve">((done) => {
      open = done;
    });
    const { url, list } = await between(
      program,
      beyond(() => seen),
    );
    // A proxy that keeps the answer back waits for pages that wait for it.
    const answer = await ask(url, { ...list("admin"), onFirstByte: () => open("serve") });
    expect(answer).toMatchObject({ status: 200, whole: true });
    expect(answer.text.length).toBeGreaterThan(5 * 1024 ** 2);
    expect(JSON.parse(answer.text).items.length).toBeGreaterThanOrEqual(RECORDS);
  });

  it("breaks off a list that carryover breaks off, but where docs/ingress.md warns: and never is it JSON", async () => {
    const { url, h2Url, tlsUrl, list } = await between(
      program,
      beyond(async () => "fail"),
    );
    const answers = { "HTTP/1.1": await ask(url, list("admin")), "HTTP/2": await askH2(h2Url, list("admin#other")) };
    const whole = Object.entries(answers).flatMap(([wire, answer]) => (answer.whole ? [wire] : []));
    expect(whole).toEqual(program.hidesBreaks);
    // A TLS client that offers both.
    const askPreferred = program.prefers === "HTTP/2" ? askH2 : ask;
    const overTls = await askPreferred(tlsUrl, list("admin#third"));
    expect(overTls.whole).toBe(program.hidesBreaks.includes(program.prefers));
    for (const answer of [...Object.values(answers), overTls]) {
      expect(answer.status).toBe(200);
      expect(answer.text.length).toBeGreaterThan(0);
      expect(() => JSON.parse(answer.text)).toThrow();
    }
  });
});
