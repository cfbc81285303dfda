/** Does a long list go through as it is made, and a broken one arrive broken? (Issue 6, part 11; design: a truncated list must never parse.) */
import { describe, expect, it } from "vitest";
import type { SendLayer } from "../../src/model/message.ts";
import { rigForTest, takeDownAfterEach } from "../app/rig.ts";
import { ask } from "./ask.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import { startProxy } from "./proxy.ts";

takeDownAfterEach();

const RECORDS = 16_000;
const TARGET = "/iam/v1/groups";
/** Behind this page of 200 the platform waits, or fails: far behind the first bytes, and before the last. */
const PAGE = 60;

/** Calls for pages beyond `PAGE` wait for `what`, and are what it says. */
function beyond(what: () => Promise<"serve" | "fail">): SendLayer {
  let pages = 0;
  return (next) => async (request, options) => {
    if (!request.target.startsWith("/iam/v2beta1/groups?")) return next(request, options);
    pages++;
    if (pages <= PAGE || (await what()) === "serve") return next(request, options);
    return { status: 500, headers: [], body: new TextEncoder().encode('{"code":13,"message":"broken","details":[]}') };
  };
}

async function listThrough(program: Program, faults: SendLayer) {
  const { url: carryoverUrl, adminUrl, sandboxUrl, sandbox } = await rigForTest({ sandbox: { size: RECORDS, faults } });
  const proxy = await startProxy(program, { carryoverUrl, adminUrl, platformUrl: sandboxUrl });
  const headers = ["Authorization", `Bearer ${sandbox.token("admin")}`];
  return (onFirstByte?: () => void) =>
    ask(proxy.url, { target: TARGET, headers, ...(onFirstByte === undefined ? {} : { onFirstByte }) });
}

describe.each(PROGRAMS)("$title", (program) => {
  it("passes the first bytes of a list of 5 MiB on before its last page is read", async () => {
    let open: (what: "serve") => void = () => {};
    const seen = new Promise<"serve">((done) => {
      open = done;
    });
    const list = await listThrough(
      program,
      beyond(() => seen),
    );
    // A proxy that keeps the answer back waits for pages that wait for it.
    const answer = await list(() => open("serve"));
    expect(answer).toMatchObject({ status: 200, whole: true });
    expect(answer.text.length).toBeGreaterThan(5 * 1024 ** 2);
    expect(JSON.parse(answer.text).items.length).toBeGreaterThanOrEqual(RECORDS);
  });

  const promise = program.breaksOff
    ? "breaks off a list that carryover breaks off: never whole, never JSON"
    : "ends a list that carryover breaks off as if it were whole, as docs/ingress.md warns: still never JSON";
  it(promise, async () => {
    const list = await listThrough(
      program,
      beyond(async () => "fail"),
    );
    const answer = await list();
    expect(answer.status).toBe(200);
    expect(answer.text.length).toBeGreaterThan(0);
    expect(answer.whole).toBe(!program.breaksOff);
    expect(() => JSON.parse(answer.text)).toThrow();
  });
});
