import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { figure } from "../../support/figures.ts";
import { POISONS } from "../../support/hostile/json.ts";
import { type Front, front, ok, TOKEN, V1, V2, valuesOf } from "./front.ts";

let here: Front;
beforeAll(async () => {
  here = await front();
});
afterAll(() => here.close());
takeDownAfterEach();

const ONE = `${V1}/0a0b`;
const withBody = (line: string, body: string, type?: string, to: Front = here) =>
  to.ask(
    line,
    `${TOKEN}${type === undefined ? "" : `Content-Type: ${type}\r\n`}Content-Length: ${body.length}\r\n`,
    body,
  );

/** v1's gateway read any body as JSON, and called it what it liked: gRPC alone is another protocol. */
const TYPES = [
  undefined,
  "",
  "application/json",
  "application/json; charset=utf-8",
  "application/json ; charset=utf-8",
  "application/json;charset=utf-16",
  "application/json\ta",
  "application/jsonp",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "text/plain",
  "weird//;;",
  "application/json, text/plain",
];

const BODIES: readonly (readonly [body: string, good: boolean])[] = [
  ['{"name":"n"}', true],
  [' {"name" : "n" }\n', true],
  ['{"name":"n","novelty":{"a":[1]}}', true],
  ["null", false],
  ['{"name":1}', false],
  ["name=n", false],
  ['{"name":"\xff"}', false],
  ["--x\r\nContent-Disposition: form-data\r\n\r\n{}\r\n--x--", false],
];

describe("T-SMG-30: what a body is called", () => {
  it.each(TYPES)("%j: only what is right as JSON reaches the platform, and there it is called JSON", async (type) => {
    for (const [body, good] of BODIES) {
      for (const line of [`PUT ${ONE}`, `POST ${ONE}`]) {
        const { answer, sent } = await withBody(line, body, type);
        expect([line, body, answer.status]).toEqual([line, body, good ? 200 : 400]);
        expect(sent).toHaveLength(good ? 1 : 0);
        for (const one of sent) {
          expect(valuesOf(one, "content-type")).toEqual(["application/json"]);
          expect(JSON.parse(one.body.toString()).name).toBe("n");
        }
      }
    }
    figure("T-SMG-30", "content types by bodies", TYPES.length * BODIES.length, "pairs");
  });
});

const atDepth = (poison: string, depth: number) => `${'"x":{'.repeat(depth)}${poison}${"}".repeat(depth)}`;
const clean = () => {
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
};

/** v1 ignored names that it did not know, and hands on those of v2: they are text here, never members of an object of ours. */
describe("T-SMG-32: names of JavaScript's own in JSON", () => {
  it.each(POISONS.flatMap((poison) => [0, 1, 2, 3].map((depth) => [poison, depth] as const)))(
    "of a client, %s at depth %i, are dropped and change nothing",
    async (poison, depth) => {
      for (const line of [`PUT ${ONE}`, `POST ${ONE}`, `POST /iam/v1/identities/0a0b`]) {
        const claim = `"claimMatch":{"issuer":"https://a.example","subject":"s",${atDepth(poison, depth)}}`;
        const { answer, sent } = await withBody(
          line,
          `{"name":"n",${line.includes("identities") ? claim : atDepth(poison, depth)}}`,
        );
        expect(answer.status).not.toBe(500);
        for (const one of sent) {
          expect(one.body.toString()).not.toMatch(/proto|constructor|polluted|evil/);
          expect(JSON.parse(one.body.toString()).name).toBe("n");
        }
        clean();
      }
    },
  );

  it("of the platform change nothing, in records, lists and errors", async () => {
    let poison = "";
    const hostile = await front(({ line }, socket) => {
      const record = (uid: string) => `{"uid":"${uid}","name":"n",${atDepth(poison, 0)},"x":{${atDepth(poison, 2)}}}`;
      const error = `{"code":3,"message":"m",${poison},"details":[{"@type":"t",${poison}}]}`;
      const one = /groups\/(\w+)/.exec(line)?.[1];
      if (line.includes("/ffff")) socket.write(ok(error).replace("200 OK", "400 Bad Request"));
      else if (one !== undefined) socket.write(ok(record(one)));
      else if (line.includes("skip=") || line.includes("page_token=")) socket.write(ok("{}"));
      else socket.write(ok(`{"groups":[${record("0a")},${record("0b")}],"totalCount":2,${poison}}`));
    });
    later(hostile.close);
    for (poison of POISONS) {
      const got = await hostile.ask(`GET ${ONE}`, TOKEN);
      expect([got.answer.status, (got.answer.json() as unknown as { name: string }).name]).toEqual([200, "n"]);
      const list = await hostile.ask(`GET ${V1}`, TOKEN);
      const { items } = list.answer.json() as unknown as { items: { name: string }[] };
      expect([list.answer.status, items.map(({ name }) => name)]).toEqual([200, ["n", "n"]]);
      const failed = await hostile.ask(`GET ${V1}/ffff`, TOKEN);
      expect([failed.answer.status, failed.answer.json().message]).toEqual([400, "m"]);
      const put = await withBody(`PUT ${ONE}`, '{"name":"n"}', undefined, hostile);
      expect(put.answer.status).toBe(200);
      clean();
    }
  });
});

describe("T-SMG-18: an expectation", () => {
  it.each(["x", "200-ok", "100"])("of another kind (%s) is 417", async (value) => {
    for (const line of [`PUT ${ONE}`, `POST ${V2}`]) {
      const { answer, sent } = await here.ask(line, `${TOKEN}Expect: ${value}\r\nContent-Length: 0\r\n`);
      expect([answer.status, sent]).toEqual([417, []]);
    }
  });
});
