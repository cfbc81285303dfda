import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SendLayer } from "../../sandbox/src/http.ts";
import { startCarryover } from "../support/carryover.ts";
import { randomOf } from "../support/random.mjs";
import { later, takeDownAfterEach } from "../support/take-down.ts";
import { replayed, replayRig, v1Reads } from "./rig.ts";

takeDownAfterEach();

const isV1 = (target: string): boolean => /^\/[a-z]+\/v1\//.test(target);

/** Changes the JSON of each success. */
function changing(change: (value: Record<string, unknown>, target: string) => void): SendLayer {
  return (next) => async (request, options) => {
    const response = await next(request, options);
    if (request.method !== "GET" || response.status !== 200) return response;
    const value = JSON.parse(Buffer.from(response.body).toString("utf8"));
    change(value, request.target);
    const body = Buffer.from(JSON.stringify(value));
    const headers = response.headers.filter(([name]) => name !== "content-length");
    return { ...response, headers, body };
  };
}

/** The records of a list, under whatever name; or the one record. */
function recordsIn(value: Record<string, unknown>): Record<string, unknown>[] {
  if ("uid" in value) return [value];
  const list = Object.values(value).find((member) => Array.isArray(member)) ?? [];
  return (list as unknown[]).filter(
    (each): each is Record<string, unknown> => typeof each === "object" && each !== null,
  );
}

describe("a replay", { timeout: 900_000 }, () => {
  it("of 10,000 requests that were recorded has no difference", async () => {
    const rig = await replayRig();
    const folder = mkdtempSync(join(tmpdir(), "recorded-"));
    later(async () => rmSync(folder, { recursive: true }));
    const flags = {
      cutoverMode: "native",
      recordFile: join(folder, "requests.jsonl"),
      recordValues: "show",
      recordPerSecond: "100000",
      recordFileBytes: "1MiB",
    };
    const carryover = await startCarryover({ v2Url: rig.url, v1Url: rig.url, flags });
    const all = v1Reads(rig.sandbox);
    // The whole list of groups and its like come now and then: they take most of the time.
    const long = /colour=|advisories$|identityProviders$|repos\?uidp|tags\?uidp/;
    const short = all.filter((target) => !long.test(target));
    const reads = [...all, ...Array.from({ length: 20 }, () => short).flat()];
    const authorization = `Bearer ${rig.sandbox.token("admin")}`;
    for (let sent = 0; sent < 10_000; ) {
      const some = Array.from({ length: Math.min(50, 10_000 - sent) }, (_, index) => sent + index);
      await Promise.all(
        some.map(async (index) => {
          const headers = { authorization, "user-agent": `client-${index % 7}` };
          await (await fetch(carryover.url + reads[index % reads.length], { headers })).arrayBuffer();
        }),
      );
      sent += some.length;
    }
    await carryover.close();
    const files = readdirSync(folder).map((name) => join(folder, name));
    expect(files.length).toBeGreaterThan(1);
    const { out, code } = await rig.command([...files, "--json", "--concurrency", "16"]);
    const { recorded, compared, differences, notCompared, passing, noise } = JSON.parse(out);
    expect(recorded).toMatchObject({ requests: 10_000, selected: 10_000, left: 0 });
    expect({ compared, differences, notCompared, passing, noise }).toEqual({
      compared: 10_000,
      differences: [],
      notCompared: [],
      passing: 0,
      // Both versions make tokens of their own.
      noise: [{ resource: "advisory", operation: "list", path: "nextPageToken", requests: 17 }],
    });
    expect(code).toBe(0);
  });

  it("of a platform that answers differently each time has noise and no differences, unless there is one", async () => {
    const random = randomOf(1);
    let serial = 0;
    const rig = await replayRig({
      faults: changing((value, target) => {
        for (const record of recordsIn(value)) {
          if ("description" in record) record["description"] = `answer ${serial++}`;
          // The catalogue names this one as volatile.
          const seen = isV1(target) ? "lastSeen" : "lastSeenTime";
          if (target.includes("/identities"))
            record[seen] = new Date(Date.UTC(2026, 10, 29) + 1000 * serial++).toISOString();
          // Half of the responses are alike here: a single comparison cannot tell.
          if ("verified" in record) record["verified"] = random() < 0.5;
        }
      }),
    });
    const reads = Array.from({ length: 60 }, () => v1Reads(rig.sandbox).slice(0, 12)).flat();
    const faithful = await replayed(rig, reads);
    expect(faithful.differences).toEqual([]);
    expect(faithful.noise.map(({ resource, path }) => `${resource} ${path}`)).toEqual(
      expect.arrayContaining(["group items[].description", "group items[].verified", "identity items[].lastSeen"]),
    );
    expect(faithful.verdict).toBe("equal");
    // v1 clients see one of two texts, and the translation shows a third one.
    const wrong = await replayRig({
      faults: changing((value, target) => {
        for (const record of recordsIn(value)) {
          if ("description" in record) record["description"] = isV1(target) ? `text ${random() < 0.5}` : "another text";
        }
      }),
    });
    const { differences } = await replayed(wrong, reads);
    expect(differences.map(({ resource, path }) => `${resource} ${path}`).sort()).toEqual([
      "group items[].description",
      "identity items[].description",
      "role items[].description",
    ]);
  });

  it("of a native v1 that fails one request in a hundred has no difference", async () => {
    const random = randomOf(2);
    let failed = 0;
    const rig = await replayRig({
      faults: (next) => async (request, options) => {
        if (!isV1(request.target) || random() >= 0.01) return next(request, options);
        failed += 1;
        const status = [500, 502, 503, 504][failed % 4] ?? 500;
        const body = Buffer.from('{"code":14,"message":"unavailable","details":[]}');
        return { status, headers: [["content-type", "application/json"]], body };
      },
    });
    const reads = Array.from({ length: 90 }, () => v1Reads(rig.sandbox).slice(0, 12)).flat();
    const { differences, notCompared, compared, noise } = await replayed(rig, reads);
    expect(failed).toBeGreaterThan(10);
    expect({ differences, notCompared, noise, compared }).toEqual({
      differences: [],
      notCompared: [],
      noise: [],
      compared: reads.length,
    });
  });

  it("of data that change under it has no difference", async () => {
    let calls = 0;
    let changes = 0;
    const made: string[] = [];
    const rig = await replayRig({
      faults: (next) => async (request, options) => {
        const response = await next(request, options);
        if (request.method !== "GET" || ++calls % 3 !== 0) return response;
        changes += 1;
        const { authorization } = Object.fromEntries(request.headers.map(([name, value]) => [name, value]));
        const headers: [string, string][] = [
          ["authorization", authorization ?? ""],
          ["content-type", "application/json"],
        ];
        const write = (method: string, target: string, body?: object) =>
          next({ method, target, headers, ...(body && { body: Buffer.from(JSON.stringify(body)) }) }, options);
        const { someGroup } = rig.sandbox.wellKnown;
        // A record is created, changed, and deleted.
        if (changes % 3 === 1) {
          const created = await write("POST", `/iam/v1/groups/${someGroup}`, { name: `new-${changes}` });
          made.push(JSON.parse(Buffer.from(created.body).toString()).id);
        } else if (changes % 3 === 2) {
          await write("PUT", `/iam/v1/groups/${someGroup}`, {
            name: "platform-api",
            description: `of change ${changes}`,
          });
        } else await write("DELETE", `/iam/v1/groups/${made.shift()}`);
        return response;
      },
    });
    const { someGroup } = rig.sandbox.wellKnown;
    const targets = [`?id=${someGroup}`, `?uidp.descendantsOf=${someGroup}`, `?uidp.children_of=${someGroup}`];
    const reads = Array.from({ length: 200 }, () => targets.map((query) => `/iam/v1/groups${query}`)).flat();
    const { differences, undecided, noisy, compared } = await replayed(rig, reads);
    expect(changes).toBeGreaterThan(300);
    expect(noisy).toBeGreaterThan(100);
    expect({ differences, undecided, compared }).toEqual({ differences: [], undecided: [], compared: reads.length });
  });
});
