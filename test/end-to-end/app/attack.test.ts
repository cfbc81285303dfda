import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { ok, type Recorded } from "../../server/support/double.ts";
import { type Rig, reasonOf, scripted } from "./rig.ts";

const REPO = "a1/b2/c3";
const TAG = `${REPO}/d4`;

/** How the platform answers one call; undefined: as it should. */
type Fault = (socket: Socket, good: string) => void;

const inFrontOf = scripted({ upstreamV2Breaker: "false" });

/** A small registry, but for what `fault` says of the call `GET repos/a/readme`, the `index`th of this test. */
function registry(fault: (call: string, index: number) => Fault | undefined) {
  const { rig, double } = inFrontOf((request, socket, index) => {
    const good = ok(JSON.stringify(held(request)));
    const wrong = fault(callOf(request), index);
    if (wrong === undefined) socket.write(good);
    else wrong(socket, good);
  });
  return { rig, double, calls: () => double.requests.map(callOf) };
}

const callOf = ({ line }: Recorded): string =>
  line.replace(/\/(?:registry|iam)\/v2beta1\//, "").replace(/(\?\S*)? HTTP.*/, "");

function held(request: Recorded): object {
  const [method = "", path = ""] = callOf(request).split(" ");
  const uid = path.replace(/^\w+\/?/, "").replace(/\/readme$/, "");
  if (path.endsWith("/readme"))
    return { uid, content: method === "PATCH" ? JSON.parse(String(request.body)).content : "old" };
  if (path === "identities:lookupIdentity") return { uid: "a1/b2" };
  if (method === "GET" && uid === "") {
    const taken = { uid: "a1/taken/c3", name: "nginx" };
    return { [path]: request.line.includes("taken") ? [taken] : [] };
  }
  const sent = request.body.length === 0 ? {} : JSON.parse(String(request.body));
  if (method === "POST") return { uid: `${uid}/${path.startsWith("tags") ? "d4" : "c3"}`, ...sent };
  return { uid, name: "nginx", digest: "sha256:00", ...sent };
}

const PUT_REPO = { name: "nginx", description: "d", readme: "new" };
const isWrite = (call: string) => !call.startsWith("GET");

const ask = (rig: Rig, { method, target, body }: Kind) => rig.ask(method, target, body === undefined ? {} : { body });

/** Time for whatever an earlier request still does: another one goes all the way and back. */
const oneRound = (rig: Rig) => rig.ask("GET", "/iam/v2beta1/round");

interface Kind {
  readonly method: string;
  readonly target: string;
  readonly body?: object;
  /** Calls when all is well. */
  readonly calls: number;
  /** The first call whose answer says which record is meant; those before look for one. */
  readonly first?: number;
}

/** Requests that take several calls, and how many. */
const KINDS: readonly Kind[] = [
  { method: "PUT", target: `/registry/v1/repos/${REPO}`, body: PUT_REPO, calls: 4 },
  { method: "POST", target: "/registry/v1/repos/a1/b2", body: PUT_REPO, calls: 3, first: 1 },
  { method: "POST", target: "/registry/v1/repos/a1/taken", body: PUT_REPO, calls: 4, first: 1 },
  { method: "PUT", target: `/registry/v1/tags/${TAG}`, body: { name: "nginx" }, calls: 2 },
  { method: "PUT", target: "/iam/v1/groups/a1/b2", body: { name: "n", verified: true }, calls: 2 },
  { method: "GET", target: "/iam/v1/identities/lookup", calls: 2, first: 1 },
  { method: "GET", target: `/registry/v1/repos/${REPO}`, calls: 2 },
];

const html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>";
const refusal = (status: number) => ok('{"code":13,"message":"no","details":[]}').replace("200 OK", `${status} No`);
const FAULTS: readonly (readonly [string, Fault])[] = [
  ["nothing", (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")],
  ["HTML", (socket) => socket.write(html)],
  ["another record", (socket) => socket.write(ok('{"uid":"ff/ff/ff","name":"nginx"}'))],
  ["a record above", (socket) => socket.write(ok('{"uid":"a1/b2/../b2/c3","name":"nginx"}'))],
  ["a list of others", (socket) => socket.write(ok('{"repos":[{"uid":"ff/ff/ff","name":"nginx"}]}'))],
  ["an array", (socket) => socket.write(ok("[]"))],
  [
    "a redirect",
    (socket) => socket.write("HTTP/1.1 307 X\r\nLocation: /iam/v2beta1/groups\r\nContent-Length: 0\r\n\r\n"),
  ],
  ["401", (socket) => socket.write(refusal(401))],
  ["500", (socket) => socket.write(refusal(500))],
  ["a cut", (socket) => socket.destroy()],
  ["half", (socket, good) => socket.end(good.slice(0, -4))],
];

describe("a request of several calls", () => {
  it.each(KINDS)(
    "is an error and writes no more, whichever call is answered wrongly in whichever way: $method $target",
    async (kind) => {
      for (const [name, fault] of FAULTS) {
        for (let at = kind.first ?? 0; at < kind.calls; at++) {
          let wrong = "";
          const { rig, calls } = registry((call, index) => {
            if (index === at) wrong = call;
            // Reads may be repeated.
            return index === at || (index > at && call === wrong && !isWrite(call)) ? fault : undefined;
          });
          const answer = await ask(rig, kind);
          const made = calls();
          const where = `${name}, call ${at}: ${made.join(", ")}`;
          expect([where, answer.status]).not.toEqual([where, 200]);
          expect([where, reasonOf(answer)]).not.toEqual([where, "INTERNAL"]);
          // What was being written at the same time may have been written; nothing behind it.
          expect([where, made.slice(made.indexOf(wrong) + 1).filter(isWrite)]).toEqual([where, []]);
          // What was written before is named.
          const done = made.slice(0, made.indexOf(wrong)).some(isWrite);
          const named = answer.field("carryover-partial") ?? answer.json.details[0]?.metadata?.partial;
          expect([where, named !== undefined]).toEqual([where, done]);
        }
      }
    },
  );

  it("has one deadline for all calls, and no write begins behind it", async () => {
    const { rig, calls } = registry((call) => (call === `PATCH repos/${REPO}/readme` ? () => {} : undefined));
    const answer = await rig.ask("PUT", `/registry/v1/repos/${REPO}`, {
      body: PUT_REPO,
      headers: { "grpc-timeout": "200m" },
    });
    await oneRound(rig);
    expect([answer.status, reasonOf(answer)]).toEqual([504, "UPSTREAM_TIMEOUT"]);
    expect(answer.json.details[0].metadata).toEqual({ state: "unknown" });
    expect(calls().filter(isWrite)).toEqual([`PATCH repos/${REPO}/readme`]);
  });
});
