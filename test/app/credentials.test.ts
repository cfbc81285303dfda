/** Does anything of one caller ever reach another? (Design: promise 2.) */
import { Agent, request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { scale } from "../support/scale.ts";
import { type Rig, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

interface Caller {
  readonly name: string;
  readonly token: string;
  /** The organisation that this caller must never see a record of. */
  readonly foreign: string;
}

/** Path, and whether the caller leaves before the answer. */
interface Errand {
  readonly method: string;
  readonly target: string;
  readonly body?: string;
  readonly leaves: boolean;
}

/** Whole answer, or undefined when the caller has left. Connections are kept and shared by both callers, as behind an ingress. */
function run(rig: Rig, agent: Agent, caller: Caller, errand: Errand): Promise<string | undefined> {
  const { hostname, port } = new URL(rig.url);
  const headers = { authorization: `Bearer ${caller.token}`, "x-request-id": caller.name };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { hostname, port, agent, method: errand.method, path: errand.target, headers },
      (response) => {
        let text = `${JSON.stringify(response.rawHeaders)}\n`;
        if (errand.leaves) {
          request.destroy();
          return resolve(undefined);
        }
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("error", reject);
        response.on("end", () => (response.complete ? resolve(text) : reject(new Error("the answer broke off"))));
      },
    );
    request.on("error", (error) => (errand.leaves ? resolve(undefined) : reject(error)));
    request.end(errand.body);
    if (errand.leaves && errand.target.length % 2 === 0) setImmediate(() => request.destroy());
  });
}

const REQUESTS = scale(140, 500);

describe("two callers at the same time", () => {
  it("T-ISO-01: mixed requests, some given up: no answer holds a record of the other's", async () => {
    const rig = await rigForTest({
      flags: {
        listsMaxConcurrent: "1000",
        listsMaxConcurrentPerCredential: "1000",
        upstreamV2Connections: "4",
        limitsInFlight: "1000",
      },
    });
    const { rootGroup, otherRootGroup, someGroup } = rig.sandbox.wellKnown;
    const callers: readonly Caller[] = [
      { name: "insider", token: rig.sandbox.token(`admin@${rootGroup}`), foreign: otherRootGroup },
      { name: "outsider", token: rig.sandbox.token(`admin@${otherRootGroup}`), foreign: rootGroup },
    ];
    const targets = [
      "/iam/v1/groups",
      `/iam/v1/groups?uidp.children_of=${rootGroup}`,
      `/iam/v1/groups?id=${otherRootGroup}`,
      `/iam/v1/groups/${otherRootGroup}`,
      `/iam/v1/groups/${someGroup}`,
      "/iam/v1/rolebindings",
      "/iam/v1/identities",
      "/iam/v1/group_invites",
      "/registry/v1/repos",
      "/iam/v2beta1/groups?page_size=200",
      `/iam/v2beta1/groups/${someGroup}`,
      "/registry/v1/charts:find?name=a",
    ];
    const agents = [new Agent({ keepAlive: true, maxSockets: 8 }), new Agent({ keepAlive: true, maxSockets: 8 })];
    const work = Array.from({ length: REQUESTS }, (_, i) => {
      const caller = callers[i % 2] ?? callers[0];
      const agent = agents[(i >> 1) % 2] ?? agents[0];
      if (caller === undefined || agent === undefined) throw new Error("there are two of each");
      const at = Math.floor(i / 2) % (targets.length + 2);
      const own = caller.name === "insider" ? someGroup : otherRootGroup;
      const put = { method: "PUT", target: `/iam/v1/groups/${own}`, body: `{"name":"of the ${caller.name}"}` };
      const found = targets[at] === undefined ? put : { method: "GET", target: targets[at] };
      const errand: Errand = { ...found, leaves: i % 5 === 0 };
      return run(rig, agent, caller, errand).then((text) => ({ caller, errand, text }));
    });
    const done = await Promise.all(work);
    for (const agent of agents) agent.destroy();

    const answered = done.filter(({ text }) => text !== undefined);
    expect(answered.length).toBe(REQUESTS * 0.8);
    const answersOf = (name: string) => answered.filter(({ caller }) => caller.name === name);
    for (const { caller, errand, text = "" } of answered) {
      const others = callers.find((one) => one !== caller);
      // What the caller itself asked about may be named in its refusal; no record of it may come.
      const body = text.slice(text.indexOf("\n") + 1).replaceAll(`group ${caller.foreign}`, "");
      const records = body.match(new RegExp(`"(?:id|uid|group|parent)":"${caller.foreign}`, "g")) ?? [];
      expect([errand, records]).toEqual([errand, []]);
      expect(body).not.toContain(`of the ${others?.name}`);
      expect(text).not.toContain(others?.token);
      expect(text).toMatch(new RegExp(`"x-request-id","${caller.name}"`, "i"));
    }
    // Both were served, so there was something to confuse.
    for (const name of ["insider", "outsider"]) {
      expect(answersOf(name).some(({ text = "" }) => /"items":\[\{/.test(text))).toBe(true);
      expect(answersOf(name).some(({ text = "" }) => text.includes(`of the ${name}`))).toBe(true);
    }
    // Every call to the platform was made with the credential of the request that it was made for.
    const tokens = new Map(callers.map(({ name, token }) => [name, `Bearer ${token}`]));
    for (const { headers } of rig.arrived) {
      const fields = new Map(headers);
      expect(fields.get("authorization")).toBe(tokens.get(fields.get("x-request-id") ?? ""));
    }
    expect(rig.arrived.length).toBeGreaterThan(REQUESTS);
    expect(rig.exchanges.filter(({ reason }) => reason === "INTERNAL")).toEqual([]);
  });

  it("a token that was good a moment ago opens nothing for a request without one", async () => {
    const rig = await rigForTest();
    const target = `/iam/v1/groups/${rig.sandbox.wellKnown.someGroup}`;
    expect((await rig.ask("GET", target)).status).toBe(200);
    for (const path of [target, "/iam/v1/groups", "/iam/v2beta1/groups"]) {
      expect((await rig.ask("GET", path, { as: null })).status).toBe(401);
    }
    for (const { headers } of rig.arrived.slice(1))
      expect(headers.map(([name]) => name)).not.toContain("authorization");
  });
});
