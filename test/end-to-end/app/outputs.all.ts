/** Every form of a secret in every place of a request, and every output of carryover, none of which may show it. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { runCommand } from "../../../scripts/command.ts";
import { SCHEMAS } from "../../../src/fleet/document.ts";
import { talk } from "../../server/support/client.ts";
import { createMemoryStore, textOf } from "../../state/shared/memory-store.ts";
import { startCarryover } from "../../support/carryover.ts";
import { figure } from "../../support/figures.ts";
import { FIELDS, JWT, MARK, NAMES, opaque, PIECES, TEXTS } from "../../support/secret-forms.ts";
import { exchange } from "../comparison/http.ts";
import { until } from "../cutover/rig.ts";
import { later, listening, takeDownAfterAll } from "./rig.ts";

takeDownAfterAll();

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const GROUPS = "/iam/v1/groups";
const JSON_TYPE = { "content-type": "application/json" };
const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };
/** Who serves a request, by header. */
const RULES = `version: carryover/v1
rules:
  - { name: native, match: { header: { x-way: native } }, mode: native }
  - { name: shadow, match: { header: { x-way: shadow } }, mode: shadow, shadow: { sample: 1, control: 0 } }
`;

/** Requests that hold each form in each place. */
function requests(): readonly Asked[] {
  const nested = (name: string) =>
    JSON.stringify({ name: "x", [name]: opaque(name), oidc: [{ [name]: { a: opaque(name) } }] });
  return [
    ...NAMES.flatMap((name): Asked[] => {
      const query = `${encodeURIComponent(name)}=${opaque(name)}`;
      return [
        { method: "GET", target: `${GROUPS}?${query}`, headers: { "x-way": "shadow" } },
        { method: "GET", target: `${GROUPS}?${query}&${query}&page_size=x` },
        { method: "GET", target: `/iam/v2beta1/groups?${query}` },
        { method: "GET", target: `/nowhere?${query}` },
        { method: "PUT", target: `${GROUPS}/a`, headers: JSON_TYPE, body: nested(name) },
        { method: "PUT", target: `${GROUPS}/a`, headers: JSON_TYPE, body: `${nested(name)}x` },
        { method: "POST", target: "/sts/exchange", headers: FORM_TYPE, body: `aud=x&${query}` },
        { method: "POST", target: `${GROUPS}/a`, headers: FORM_TYPE, body: query },
      ];
    }),
    ...FIELDS.map(
      ([name, value]): Asked => ({ method: "GET", target: GROUPS, headers: { [name]: value, "x-way": "shadow" } }),
    ),
    ...TEXTS.flatMap((text): Asked[] => [
      { method: "GET", target: `${GROUPS}/${encodeURIComponent(text)}` },
      { method: "GET", target: `${GROUPS}?name=${encodeURIComponent(text)}`, headers: { "x-way": "shadow" } },
      { method: "GET", target: GROUPS, headers: { "user-agent": text, referer: text, "x-note": text } },
      {
        method: "PUT",
        target: `${GROUPS}/a`,
        headers: JSON_TYPE,
        body: JSON.stringify({ name: "x", description: text, [text]: 1 }),
      },
    ]),
  ];
}

/** Invalid requests with a token in them. */
const BROKEN: readonly string[] = [
  `GET / HTTP/9\r\nAuthorization: Bearer ${opaque("broken")}\r\n\r\n`,
  `GET ${GROUPS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${opaque("broken")}\x01\r\n\r\n`,
  `GET ${GROUPS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${opaque("once")}\r\nAuthorization: Bearer ${opaque("twice")}\r\nConnection: close\r\n\r\n`,
  `${MARK}method ${GROUPS}?access_token=${opaque("broken")} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
];
/** A request with secrets, for the view that explains requests. */
const PASTED = new URLSearchParams([
  ["request", `PUT /iam/v1/identityProviders/a?access_token=${opaque("pasted")}`],
  ["header", `Authorization: Bearer ${opaque("pasted")}`],
  ["header", `X-Api-Key: ${opaque("pasted")}`],
  ["data", JSON.stringify({ name: "p", oidc: { issuer: "https://i", clientSecret: opaque("pasted") } })],
]);

/** Responds to odd calls with everything that it was sent; native v1 and v2 differ in members that hold a secret. */
async function platform(): Promise<string> {
  let calls = 0;
  const server = createServer((req, res) => {
    let sent = "";
    req.on("data", (chunk: Buffer) => {
      sent += chunk;
    });
    req.on("end", () => {
      res.setHeader("content-type", "application/json");
      const echo = `${req.url} ${JSON.stringify(req.headers)} ${sent}`;
      if (++calls % 4 === 0) {
        res.statusCode = 500;
        res.end(JSON.stringify({ code: 13, message: echo, details: [] }));
        return;
      }
      const group = {
        uid: "a",
        name: "x",
        description: `see ${JWT}`,
        scimToken: opaque("v2"),
        nested: { code: opaque("deep") },
      };
      // A list of two pages, whose token is a secret, too.
      const isLast = /page_token=|skip=[1-9]/.test(req.url ?? "");
      const token = isLast ? "" : opaque(`page-${calls}`);
      const page = { groups: [{ ...group, uid: isLast ? "b" : "a" }], nextPageToken: token, totalCount: "2" };
      if (req.url?.startsWith("/sts")) res.end(JSON.stringify({ token: opaque(`issued-${calls}`) }));
      else if (req.url?.startsWith("/iam/v1/")) res.end('{"items":[{"id":"a","name":"y","description":""}]}');
      else res.end(JSON.stringify(/groups(?:\?|$)/.test(req.url ?? "") ? page : group));
    });
  });
  return `http://127.0.0.1:${await listening(server)}`;
}

const outputs = new Map<string, string>();

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "outputs-"));
  later(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "rules.yaml"), RULES);
  const url = await platform();
  for (const values of ["redact", "show"]) {
    const state = join(folder, values);
    const lines: string[] = [];
    let random = 0;
    const store = createMemoryStore(Date.now, () => `${random++}`);
    const carryover = await startCarryover({
      v2Url: url,
      v1Url: url,
      stsUrl: url,
      flags: {
        logLevel: "debug",
        stateDir: state,
        cutoverRulesFile: join(folder, "rules.yaml"),
        shadowValues: values,
        unknownFieldsResponse: "pass",
        clientsIdentify: "claim:sub,header:x-api-key,user-agent",
      },
      logLine: (line) => lines.push(line),
      store,
    });
    for (const { method, target, headers, body } of requests()) {
      const bytes = body === undefined ? undefined : Buffer.from(body);
      await exchange({ method, url: carryover.url, target, headers: { ...headers }, body: bytes });
    }
    for (const bytes of BROKEN) await talk(Number(new URL(carryover.url).port), bytes);
    const view = async (name: string) => {
      outputs.set(`${values} ${name}`, await (await fetch(`${carryover.adminUrl}/${name}`)).text());
      return outputs.get(`${values} ${name}`) ?? "";
    };
    const busy = /^carryover_comparisons_(?:in_progress|waiting|held_bytes)\S* [1-9]/m;
    await until(
      () => view("metrics"),
      (text) => !busy.test(text),
    );
    for (const name of ["rules", "clients", "clients.txt", "samples", "progress", "events", "unknown-fields"])
      await view(name);
    outputs.set(`${values} explained`, await (await fetch(`${carryover.adminUrl}/explain?${PASTED}`)).text());
    for (const { name } of JSON.parse(outputs.get(`${values} clients`) ?? "").clients) {
      await view(`way-out.md?client=${encodeURIComponent(name)}`);
    }
    for (const words of [["report"], ["report", "--json"], ["report", "--csv"], ["report", "--markdown"], ["status"]]) {
      const [name = "", ...rest] = words;
      const { out, err } = await runCommand([name, carryover.adminUrl, ...rest]);
      outputs.set(`${values} ${words.join(" ")}`, out + err);
    }
    await carryover.close();
    outputs.set(`${values} log`, lines.join(""));
    outputs.set(`${values} store`, textOf(store));
    for (const file of await readdir(state))
      outputs.set(`${values} ${file}`, await readFile(join(state, file), "utf8"));
  }
  const { out, err } = await runCommand(["check", "--upstream-v2-url", url], {
    env: { CARRYOVER_CHECK_TOKEN: opaque("check") },
  });
  outputs.set("check", out + err);
  // What goes elsewhere is explained in the same way.
  const explained = requests().filter(({ target, body }) => target.startsWith(GROUPS) && !body?.endsWith("x"));
  for (const [at, { method, target, headers = {}, body }] of explained.entries()) {
    const given = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const words = ["explain", `${method} ${target}`, ...given, ...(body === undefined ? [] : ["-d", body])];
    const form = [[], ["--json"], ["--curl"]][at % 3] ?? [];
    const { out, err } = await runCommand([...words, ...form]);
    const name = `explain ${form.join("")}`;
    outputs.set(name, (outputs.get(name) ?? "") + out + err);
  }
}, 180_000);

it("T-ISO-09: no output holds a secret, in any of its forms", () => {
  const found = [...outputs].flatMap(([name, text]) => {
    const at = PIECES.map((piece) => text.indexOf(piece)).find((index) => index >= 0);
    return at === undefined ? [] : [`${name}: ${text.slice(Math.max(0, at - 100), at + 60)}`];
  });
  expect(found).toEqual([]);
  for (const [name, { length }] of outputs)
    figure("T-ISO-09", `bytes of output looked through: ${name}`, length, "bytes");
  figure("T-ISO-09", "secrets found in all outputs", found.length, "secrets");
});

it("the outputs say something of these requests", () => {
  for (const name of [
    "redact samples",
    "show samples",
    "redact log",
    "redact clients",
    "redact report --json",
    "explain --json",
  ]) {
    expect([name, /group/.test(outputs.get(name) ?? "")]).toEqual([name, true]);
  }
  expect(outputs.get("redact explained")).toContain("clientSecret");
  expect(outputs.get("show samples")).toContain('"native":"\\"y\\""');
  expect(outputs.get("redact counts.json")).toContain("group");
  // Everything that a document has is in the store.
  const rows = (outputs.get("redact store") ?? "").matchAll(/^doc:([a-z]+)/gm);
  expect([...new Set(Array.from(rows, ([, part]) => part))].sort()).toEqual(Object.keys(SCHEMAS).sort());
  expect(outputs.get("show store")).toContain('"native":"\\"y\\""');
  expect(outputs.get("redact store")?.includes('"native":"\\"y\\""')).toBe(false);
  expect(MARK.length).toBeGreaterThan(5);
});
