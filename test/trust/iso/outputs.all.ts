import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { carryover } from "../../end-to-end/app/process.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { talk } from "../../server/support/client.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { ask, kinds, SECRET, started } from "./support/hush.ts";

takeDownAfterEach();

/** What an operator may look at, with queries that people would paste. */
const EXPLAINED = new URLSearchParams([
  ["request", `PUT /iam/v1/identityProviders/a?access_token=${SECRET}pasted`],
  ["header", `Authorization: Bearer ${SECRET}pasted`],
  ["header", `X-Api-Key: ${SECRET}pasted`],
  [
    "data",
    JSON.stringify({ name: "p", oidc: { issuer: "https://i", clientId: "c", clientSecret: `${SECRET}pasted` } }),
  ],
]);
const VIEWS = [
  "metrics",
  "healthz",
  "readyz",
  "rules",
  "clients",
  "clients.txt",
  "samples",
  "progress",
  "unknown-fields",
];

/** Bytes that are no request, with a token in them. */
const BROKEN = [
  `GET / HTTP/9\r\nAuthorization: Bearer ${SECRET}broken\r\n\r\n`,
  `GET /iam/v1/groups HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${SECRET}broken\x01\r\n\r\n`,
  `GET /iam/v1/groups HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${SECRET}broken\r\nAuthorization: Bearer ${SECRET}twice\r\nConnection: close\r\n\r\n`,
  `${SECRET}method /iam/v1/groups?access_token=${SECRET}broken HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
];

describe("whatever the process writes and shows", () => {
  it("T-ISO-09: holds no token, page token or secret of a query, at level debug, from requests of every kind", {
    timeout: 120_000,
  }, async () => {
    let ill = false;
    const { folder, running, port, admin, agent } = await started(
      (home) => ({ flags: `--log-level debug --state-dir ${join(home, "state")}` }),
      () => ill,
    );
    const statuses: number[] = [];
    const rounds = scale(3, 100);
    for (let nth = 0; nth < rounds; nth++) {
      ill = nth % 3 === 2;
      const all = kinds(nth).map((kind, at) => ask(port, agent, `${nth}-${at}`, kind));
      statuses.push(...(await Promise.all(all)));
    }
    for (const bytes of BROKEN) await talk(port, bytes);
    expect(new Set(statuses)).toEqual(new Set([200, 400, 404, 500]));

    const outputs = new Map<string, string>();
    for (const view of VIEWS) outputs.set(view, await (await fetch(`${admin}/${view}`)).text());
    outputs.set("explain", await (await fetch(`${admin}/explain?${EXPLAINED}`)).text());
    const names = JSON.parse(outputs.get("clients") ?? "{}").clients.map(({ name }: { name: string }) => name);
    for (const name of names)
      outputs.set(
        `way-out ${name}`,
        await (await fetch(`${admin}/way-out.md?client=${encodeURIComponent(name)}`)).text(),
      );
    for (const form of ["", "--json", "--markdown", "--csv"]) {
      const report = carryover(["report", admin, ...(form === "" ? [] : [form])]);
      await report.ended;
      outputs.set(`report ${form}`, report.out() + report.err());
    }
    running.stop("SIGTERM");
    await running.ended;
    outputs.set("log", running.out());
    outputs.set("stderr", running.err());
    for (const section of ["counts", "rollout"]) {
      outputs.set(`saved ${section}`, await readFile(join(folder, "state", `${section}.json`), "utf8"));
    }

    // They say something: of every kind of output there is some of what was asked.
    expect(names.length).toBeGreaterThan(1);
    expect(outputs.get("log")?.split("\n").length).toBeGreaterThan(statuses.length);
    for (const name of ["metrics", "clients", "samples", "log", "saved counts", "saved rollout", "report --json"]) {
      expect([name, /group/.test(outputs.get(name) ?? "")]).toEqual([name, true]);
    }
    expect(outputs.get("explain")).toContain("clientSecret");
    let found = 0;
    for (const [name, text] of outputs) {
      const secrets = text.match(new RegExp(`${SECRET}[\\w-]*`, "g")) ?? [];
      expect([name, secrets]).toEqual([name, []]);
      found += secrets.length;
      figure("T-ISO-09", `bytes of output looked through: ${name.split(" ")[0]}`, text.length, "bytes");
    }
    figure("T-ISO-09", "secrets found in all outputs", found, "secrets");
  });
});
