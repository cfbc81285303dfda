/** What do requests of several calls do when a platform, or a client, breaks off between the calls? */
import { request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { createDouble, type Double, ok, type Recorded } from "../listener/support/double.ts";
import { later, type Rig, reasonOf, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const REPO = "a1/b2/c3";
const TAG = `${REPO}/d4`;

/** How the platform answers one call; undefined: as it should. */
type Fault = (socket: Socket, good: string) => void;

/** A small registry, but for what `fault` says of the call `GET repos/a/readme`, the `index`th of all. */
async function registry(
  fault: (call: string, index: number) => Fault | undefined,
  flags: Record<string, string> = {},
): Promise<{ rig: Rig; double: Double; calls(): string[] }> {
  const double = await createDouble((request, socket, index) => {
    const good = ok(JSON.stringify(held(request)));
    const wrong = fault(callOf(request), index);
    if (wrong === undefined) socket.write(good);
    else wrong(socket, good);
  });
  later(double.close);
  const rig = await rigForTest({ v2Url: double.url, native: false, flags });
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

/** Sends a request and leaves when `when` has come true; resolves when it is over. */
async function leaves(rig: Rig, { method, target, body }: Kind, when: () => Promise<void>): Promise<void> {
  const { hostname, port } = new URL(rig.url);
  const request = httpRequest({ hostname, port, method, path: target, headers: { authorization: "Bearer t" } });
  request.on("error", () => {});
  request.end(body === undefined ? undefined : JSON.stringify(body));
  await when();
  request.destroy();
  while (rig.exchanges.length === 0) await settled(5);
}

const settled = (ms = 50) => new Promise((resolve) => setTimeout(resolve, ms));

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
  it.each(KINDS)("takes $calls calls when all is well: $method $target", async (kind) => {
    const { rig, calls } = await registry(() => undefined);
    const answer = await rig.ask(kind.method, kind.target, kind.body === undefined ? {} : { body: kind.body });
    expect([answer.status, calls().length]).toEqual([200, kind.calls]);
  });

  it.each(KINDS.flatMap((kind) => FAULTS.map(([name, fault]) => ({ ...kind, name, fault }))))(
    "is an error and writes no more, whichever call is answered with $name: $method $target",
    async ({ fault, ...kind }) => {
      let at = -1;
      let wrong = "";
      const { rig, double } = await registry((call, index) => {
        const first = index - before;
        if (first === at) wrong = call;
        // Reads may be repeated.
        return first === at || (first > at && at >= 0 && call === wrong && !isWrite(call)) ? fault : undefined;
      });
      let before = 0;
      for (at = kind.first ?? 0; at < kind.calls; at++) {
        before = double.requests.length;
        wrong = "";
        const answer = await rig.ask(kind.method, kind.target, kind.body === undefined ? {} : { body: kind.body });
        const made = double.requests.slice(before).map(callOf);
        const where = `call ${at}: ${made.join(", ")}`;
        expect([where, answer.status]).not.toEqual([where, 200]);
        expect([where, reasonOf(answer)]).not.toEqual([where, "INTERNAL"]);
        // What was being written at the same time may have been written; nothing behind it.
        expect([where, made.slice(made.indexOf(wrong) + 1).filter(isWrite)]).toEqual([where, []]);
        // What was written before is named.
        const done = made.slice(0, made.indexOf(wrong)).some(isWrite);
        const named = answer.field("carryover-partial") ?? answer.json.details[0]?.metadata?.partial;
        expect([where, named !== undefined]).toEqual([where, done]);
      }
    },
  );

  it.each(KINDS)("starts no further call when its client has left: $method $target", async (kind) => {
    for (let last = 0; last < kind.calls; last++) {
      let answer = () => {};
      const { rig, double, calls } = await registry((_, index) =>
        index < last
          ? undefined
          : (socket, good) => {
              answer = () => void socket.write(good);
            },
      );
      await leaves(rig, kind, () => double.until(() => calls().length > last));
      const made = calls().length;
      answer();
      await settled();
      expect([last, calls().length]).toEqual([last, made]);
      expect(rig.exchanges[0]).toMatchObject({ aborted: true, status: 499 });
    }
  });

  it("has one deadline for all calls, and no write begins behind it", async () => {
    const { rig, calls } = await registry((call) => (call === `PATCH repos/${REPO}/readme` ? () => {} : undefined));
    const answer = await rig.ask("PUT", `/registry/v1/repos/${REPO}`, {
      body: PUT_REPO,
      headers: { "grpc-timeout": "200m" },
    });
    await settled();
    expect([answer.status, reasonOf(answer)]).toEqual([504, "UPSTREAM_TIMEOUT"]);
    expect(answer.json.details[0].metadata).toEqual({ state: "unknown" });
    expect(calls().filter(isWrite)).toEqual([`PATCH repos/${REPO}/readme`]);
  });
});
