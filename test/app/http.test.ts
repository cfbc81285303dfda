/** Does a translated route speak HTTP as v1's gateway did, whatever client and platform do? (Design: HTTP on translated routes.) */
import * as zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import { dial, parse } from "../listener/support/client.ts";
import { ok } from "../listener/support/double.ts";
import { type Answer, type Rig, reasonOf, scripted, sharedRig } from "./rig.ts";

const { resources } = await loadCatalogue("v2beta1");
const GROUPS = "/iam/v1/groups";
const NOT_ALLOWED = '{"code":12,"message":"Method Not Allowed","details":[]}';

/** Before the sandbox alone. */
const sandboxed = sharedRig({ native: false });
const inFrontOf = scripted();

const group = () => sandboxed().sandbox.wellKnown.someGroup;

function http(status: number, body: string | Uint8Array, fields = ""): Buffer {
  const type = fields.toLowerCase().includes("content-type:") ? "" : "Content-Type: application/json\r\n";
  const head = `HTTP/1.1 ${status} X\r\n${type}${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]);
}

function namesOf(answer: Answer): readonly string[] {
  return answer.headers.map(([name]) => name);
}

/** The one answer to a request sent byte by byte; `parts` go out one after another. */
async function raw(rig: Rig, parts: readonly string[]): Promise<ReturnType<typeof parse>> {
  const client = await dial(Number(new URL(rig.url).port));
  for (const part of parts) {
    client.send(part);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return parse(await client.closed());
}

function head(rig: Rig, line: string, fields: string): string {
  const authorization = `Authorization: Bearer ${rig.sandbox.token("admin")}\r\n`;
  return `${line} HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n${authorization}${fields}\r\n`;
}

describe("a method that v1 does not have", () => {
  const collections = resources.flatMap(({ domain, v1, v2 }) => [`/${domain}/v1/${v1}`, `/${domain}/v1/${v2}`]);

  it.each([...new Set(collections)])(
    "on %s, and below it, is 501 as in v1's gateway, and goes nowhere",
    async (path) => {
      const before = sandboxed().arrived.length;
      for (const target of [path, `${path}/0a0a/1b1b`]) {
        for (const method of ["PATCH", "HEAD", "TRACE", "PROPFIND"]) {
          const answer = await sandboxed().ask(method, target);
          expect([method, answer.status]).toEqual([method, 501]);
          if (method !== "HEAD") expect(answer.text).toBe(NOT_ALLOWED);
          else expect([answer.field("content-type"), answer.text]).toEqual(["application/json", ""]);
        }
      }
      expect(sandboxed().arrived.length).toBe(before);
    },
  );

  it.each(["x-http-method-override", "x-http-method", "x-method-override"])(
    "T-SMG-21: comes in by no other door: %s changes nothing and goes nowhere",
    async (name) => {
      const rig = sandboxed();
      const { someGroup } = rig.sandbox.wellKnown;
      for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
        const headers = { [name]: "DELETE", "content-type": type };
        const made = await rig.ask("POST", `${GROUPS}/${someGroup}`, {
          body: { name: `${name} ${type.length}` },
          headers,
        });
        expect([made.status, made.json.name]).toEqual([200, `${name} ${type.length}`]);
      }
      expect(rig.arrived.map(({ method }) => method)).toEqual(["POST", "POST"]);
      expect(rig.arrived.flatMap(({ headers }) => headers.map(([key]) => key))).not.toContain(name);
    },
  );
});

describe("OPTIONS", () => {
  const preflight = { origin: "https://app.example", "access-control-request-method": "PUT" };
  const allowing =
    "HTTP/1.1 204 No Content\r\nAllow: GET, PATCH, DELETE\r\nAccess-Control-Allow-Methods: GET,PATCH\r\n" +
    "Access-Control-Allow-Headers: x-patch\r\nAccess-Control-Allow-Origin: https://app.example\r\n\r\n";

  it("without native v1 is what v2 says of its own path, with PUT for PATCH in both directions", async () => {
    const { rig, double } = inFrontOf(allowing);
    for (const [v1, v2] of [
      [`${GROUPS}/a/b`, "/iam/v2beta1/groups/a/b"],
      [`${GROUPS}?name=x`, "/iam/v2beta1/groups"],
      ["/iam/v1/rolebindings/a%2Fb", "/iam/v2beta1/roleBindings/a/b"],
    ]) {
      const answer = await rig.ask("OPTIONS", v1 ?? "", { as: null, headers: preflight });
      expect(answer.status).toBe(204);
      expect(answer.field("allow")).toBe("GET, PUT, DELETE");
      expect(answer.field("access-control-allow-methods")).toBe("GET,PUT");
      expect(answer.field("access-control-allow-headers")).toBe("x-patch");
      expect(answer.field("access-control-allow-origin")).toBe("https://app.example");
      expect(double.requests.at(-1)?.line).toBe(`OPTIONS ${v2} HTTP/1.1`);
      const sent = new Map(double.requests.at(-1)?.fields.map(([name, value]) => [name.toLowerCase(), value]));
      expect([sent.get("origin"), sent.get("access-control-request-method")]).toEqual(["https://app.example", "PATCH"]);
    }
    await rig.ask("OPTIONS", GROUPS, { headers: { "access-control-request-method": "GET" } });
    expect(double.requests.at(-1)?.head).toMatch(/access-control-request-method: GET/i);
  });

  it("of an error of the platform is that error, and on a path of nobody it is 501", async () => {
    const refusal = '{"code":12,"message":"Method Not Allowed","details":[]}';
    const { rig } = inFrontOf(http(501, refusal));
    const answer = await rig.ask("OPTIONS", GROUPS);
    expect([answer.status, answer.text]).toEqual([501, refusal]);
    const unknown = await rig.ask("OPTIONS", "/iam/v1/novelties");
    expect([unknown.status, reasonOf(unknown)]).toEqual([501, "NOT_TRANSLATABLE"]);
  });
});

describe("compression", () => {
  const record = '{"uid":"abc","name":"ä"}';
  const page = '{"groups":[{"uid":"abc","name":"ä"}],"nextPageToken":"","totalCount":"1"}';

  it("that nobody asked v2 for is taken off a record and a page, and v2 is asked for none", async () => {
    const { rig, double } = inFrontOf(({ line }, socket) => {
      const body = zlib.brotliCompressSync(line.includes("page_size") ? page : record);
      socket.write(http(200, body, 'Content-Encoding: br\r\nETag: "x"\r\nVary: Accept-Encoding\r\n'));
    });
    const get = await rig.ask("GET", `${GROUPS}/abc`, { headers: { "accept-encoding": "gzip, br, zstd" } });
    const list = await rig.ask("GET", GROUPS);
    expect([get.json.name, list.json.items[0].name]).toEqual(["ä", "ä"]);
    expect([get.field("content-encoding"), list.field("content-encoding")]).toEqual([undefined, undefined]);
    for (const { head } of double.requests) expect(head).toMatch(/^accept-encoding: identity$/im);
  });

  it("in zstd is read where this Node can, and 502 elsewhere", async () => {
    // A frame with one raw block.
    const block = Buffer.alloc(3);
    block.writeUIntLE((Buffer.byteLength(record) << 3) | 1, 0, 3);
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, Buffer.byteLength(record)]);
    const { rig } = inFrontOf(
      http(200, Buffer.concat([frame, block, Buffer.from(record)]), "Content-Encoding: zstd\r\n"),
    );
    const answer = await rig.ask("GET", `${GROUPS}/abc`);
    if ("zstdDecompress" in zlib) expect([answer.status, answer.json.name]).toEqual([200, "ä"]);
    else expect([answer.status, reasonOf(answer)]).toEqual([502, "UPSTREAM_INVALID"]);
  });

  it("to a bomb is 502, and nothing of it arrives", async () => {
    const bytes = zlib.gzipSync(`{"uid":"abc","x":"${"x".repeat(64 * 1024 * 1024)}"}`);
    const { rig } = inFrontOf(http(200, bytes, "Content-Encoding: gzip\r\n"));
    for (const target of [`${GROUPS}/abc`, GROUPS]) {
      const answer = await rig.ask("GET", target);
      expect([answer.status, reasonOf(answer)]).toEqual([502, "UPSTREAM_INVALID"]);
    }
  });

  it.each([
    ["br;q=0, *", "gzip"],
    ["gzip;q=0, br;q=0", undefined],
    ["", undefined],
  ])("of a long list for a client that accepts %j is %s, and the list is the same", async (accepted, encoding) => {
    const plain = await sandboxed().ask("GET", GROUPS);
    const answer = await sandboxed().ask("GET", GROUPS, { headers: { "accept-encoding": accepted } });
    expect([answer.status, answer.field("content-encoding")]).toEqual([200, encoding]);
    const bytes = encoding === undefined ? answer.body : zlib.gunzipSync(answer.body);
    expect(Buffer.from(bytes).equals(plain.body)).toBe(true);
    expect(answer.field("content-length")).toBe(String(answer.body.length));
    const vary = answer.headers.filter(([name]) => name === "vary").map(([, value]) => value);
    expect(vary.sort()).toEqual(["Accept-Encoding", "Authorization"]);
  });
});

describe("the body of a request", () => {
  const put = () => `PUT ${GROUPS}/${group()}`;
  /** Forgets the last name, so that each case shows its own. */
  const sentName = () => JSON.parse(Buffer.from(sandboxed().arrived.at(-1)?.body ?? "").toString()).name;

  it.each([
    ["absent", undefined],
    ["text/plain", "text/plain"],
    ["application/xml; charset=utf-16", "application/xml; charset=utf-16"],
    ["a form", "application/x-www-form-urlencoded"],
    ["many parts", "multipart/form-data; boundary=x"],
    ["nonsense", ";;;"],
    ["empty", ""],
  ])("T-SMG-30: is JSON when its type is %s", async (name, type) => {
    const headers = type === undefined ? {} : { "content-type": type };
    const answer = await sandboxed().ask("PUT", `${GROUPS}/${group()}`, {
      body: { name: "a", description: name },
      headers,
    });
    expect([answer.status, answer.json.description]).toEqual([200, name]);
    expect(
      sandboxed()
        .arrived.at(-1)
        ?.headers.filter(([key]) => key === "content-type"),
    ).toEqual([["content-type", "application/json"]]);
  });

  it("is read as it is, whatever Content-Encoding says, as v1's gateway did", async () => {
    const headers = { "content-encoding": "gzip" };
    const answer = await sandboxed().ask("PUT", `${GROUPS}/${group()}`, { body: '{"name":"plain"}', headers });
    expect([answer.status, answer.json.name]).toEqual([200, "plain"]);
    expect(
      sandboxed()
        .arrived.at(-1)
        ?.headers.map(([name]) => name),
    ).not.toContain("content-encoding");
    const packed = await sandboxed().ask("PUT", `${GROUPS}/${group()}`, {
      body: zlib.gzipSync('{"name":"packed"}'),
      headers,
    });
    expect([packed.status, reasonOf(packed)]).toEqual([400, "INVALID_BODY"]);
  });

  it.each<{ name: string; fields?: string; parts: readonly string[]; says: string; describes?: string }>([
    {
      name: "with trailers",
      fields: "Trailer: X-Sum\r\nTE: trailers\r\n",
      parts: ['c\r\n{"name":"t"}\r\n', "0\r\nX-Sum: 1\r\nAuthorization: Bearer other\r\n\r\n"],
      says: "t",
    },
  ])("in chunks, $name, is the same body", async ({ fields = "", parts, says, describes = "" }) => {
    const answer = await raw(sandboxed(), [
      head(sandboxed(), put(), `Transfer-Encoding: chunked\r\n${fields}`),
      ...parts,
    ]);
    expect([answer.status, sentName()]).toEqual([200, says]);
    expect(JSON.parse(Buffer.from(answer.body, "latin1").toString()).description).toBe(describes);
    const call = new Map(sandboxed().arrived.at(-1)?.headers);
    expect(Number(call.get("content-length"))).toBe(sandboxed().arrived.at(-1)?.body?.length);
    for (const name of ["transfer-encoding", "trailer", "te", "x-sum"]) expect(call.has(name)).toBe(false);
    expect(call.get("authorization")).toBe(`Bearer ${sandboxed().sandbox.token("admin")}`);
  });

  it.each([
    ["without a body", "", ""],
    ["of length 0", "Content-Length: 0\r\n", ""],
    ["of no chunks", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n"],
    ["of nothing but space", "Content-Length: 4\r\n", " \r\n\t"],
  ])("%s is an empty message: what is missing is the platform's to say, in v1's words", async (_, fields, body) => {
    const answer = await raw(sandboxed(), [head(sandboxed(), `POST ${GROUPS}/${group()}`, fields), body]);
    expect(answer.status).toBe(400);
    expect(answer.json().message).toMatch(/^Invalid argument: name:/);
    expect(Buffer.from(sandboxed().arrived.at(-1)?.body ?? "").toString()).toBe("{}");
  });

  it.each([
    ["a byte order mark", '\ufeff{"name":"a"}'],
    ["half a surrogate", '{"name":"\\ud800"}'],
    ["a comment", '{"name":"a"/* */}'],
    ["NaN", '{"verified":NaN}'],
  ])("T-SMG-31: with %s is 400, as v1's decoder had it", async (_, body) => {
    const before = sandboxed().arrived.length;
    const answer = await sandboxed().ask("PUT", `${GROUPS}/${group()}`, { body });
    expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([400, 3, "INVALID_BODY"]);
    expect(sandboxed().arrived.length).toBe(before);
  });

  it("may repeat a key that nobody knows, as v1's decoder let it", async () => {
    const answer = await sandboxed().ask("PUT", `${GROUPS}/${group()}`, { body: '{"x":1,"name":"twice","x":[2]}' });
    expect([answer.status, answer.json.name]).toEqual([200, "twice"]);
  });
});

describe("the order of checks", () => {
  it.each([
    ["a body that is no JSON", "PUT", () => `${GROUPS}/${group()}`, '{"name":'],
    ["a filter that cannot be read", "GET", () => `${GROUPS}?uidp.in_root=x`, undefined],
    ["an odd path", "GET", () => `${GROUPS}//a`, undefined],
  ])("%s without a token is 400, not 401: decoding comes first", async (_, method, target, body) => {
    const answer = await sandboxed().ask(method, target(), { as: null, ...(body === undefined ? {} : { body }) });
    expect([answer.status, answer.json.code]).toEqual([400, 3]);
  });

  it("a method that is not there without a token is 501", async () => {
    expect((await sandboxed().ask("PATCH", `${GROUPS}/${group()}`, { as: null })).status).toBe(501);
  });

  it.each([null, "nobody-knows"])(
    "a missing or foreign token is the platform's to refuse, in its own words (%s)",
    async (as) => {
      const given = as === null ? { as } : { as: null, headers: { authorization: `Bearer ${as}` } };
      for (const [method, target] of [
        ["GET", GROUPS],
        ["GET", `${GROUPS}/${group()}`],
        ["GET", `${GROUPS}?id=${group()}`],
        ["DELETE", `${GROUPS}/${group()}`],
      ] as const) {
        const v1 = await sandboxed().ask(method, target, given);
        const v2 = await sandboxed().ask(method, target.replace("/v1/", "/v2beta1/").replace("?id=", "/"), given);
        expect([v1.status, v1.text]).toEqual([401, v2.text]);
        expect(v1.field("www-authenticate")).toBe(v2.field("www-authenticate"));
        expect(v1.field("www-authenticate")).toBe(v1.json.message);
      }
    },
  );
});

describe("a path or a query", () => {
  it("may write the slash of a uid as %2F or %2f", async () => {
    for (const slash of ["%2F", "%2f", "/"]) {
      const answer = await sandboxed().ask("GET", `${GROUPS}/${group().replaceAll("/", slash)}`);
      expect([answer.status, answer.json.id]).toEqual([200, group()]);
      expect(sandboxed().arrived.at(-1)?.target).toBe(`/iam/v2beta1/groups/${group()}`);
    }
  });

  it.each(["name=a;b=c", "uidp=1", "name=a&name=b", "uidp.in_root="])(
    "is 400 for %s, as in v1's gateway",
    async (query) => {
      const before = sandboxed().arrived.length;
      const answer = await sandboxed().ask("GET", `${GROUPS}?${query}`);
      expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([400, 3, "INVALID_FILTER"]);
      expect(sandboxed().arrived.length).toBe(before);
    },
  );

  it("may hold parameters that nobody knows: they are ignored, as in v1, and go nowhere", async () => {
    const [all, more] = [
      await sandboxed().ask("GET", GROUPS),
      await sandboxed().ask("GET", `${GROUPS}?page_size=1&x=1&updateMask=*`),
    ];
    expect(more.text).toBe(all.text);
    await sandboxed().ask("PUT", `${GROUPS}/${group()}?updateMask=*&x=1`, { body: { name: "q" } });
    await sandboxed().ask("DELETE", `${GROUPS}/none?force=true`);
    expect(sandboxed().arrived.filter(({ target }) => /x=1|\*|force|%2A/.test(target))).toEqual([]);
  });
});

describe("a condition", () => {
  const VALIDATORS = 'ETag: "7"\r\nLast-Modified: Tue, 01 Jan 2030 00:00:00 GMT\r\nAccept-Ranges: bytes\r\n';

  it.each([
    ["if-none-match", "*"],
    ["if-none-match", '"7"'],
    ["if-modified-since", "Tue, 01 Jan 2030 00:00:00 GMT"],
    ["range", "bytes=0-3"],
    ["if-range", '"7"'],
    ["if-match", '"6"'],
    ["if-unmodified-since", "Sat, 01 Jan 2000 00:00:00 GMT"],
  ])("on a read (%s: %s) is ignored, and no validator comes back", async (name, value) => {
    const { rig, double } = inFrontOf(({ line }, socket) => {
      const record = '{"uid":"abc","name":"a"}';
      socket.write(ok(line.includes("page_size") ? `{"groups":[${record}]}` : record, VALIDATORS));
    });
    for (const target of [`${GROUPS}/abc`, GROUPS, `${GROUPS}?id=abc`]) {
      const answer = await rig.ask("GET", target, { headers: { [name]: value } });
      expect(answer.status).toBe(200);
      expect(answer.text).toContain('"id":"abc"');
      for (const field of ["etag", "last-modified", "accept-ranges"]) expect(namesOf(answer)).not.toContain(field);
    }
    expect(double.requests.map(({ fields }) => fields.filter(([key]) => key.toLowerCase() === name))).toEqual(
      double.requests.map(() => []),
    );
  });

  it.each(["if-match", "if-unmodified-since"])(
    "on a write of one call goes along, and its refusal comes back: %s",
    async (name) => {
      const refusal = '{"code":9,"message":"changed","details":[]}';
      const { rig, double } = inFrontOf(http(412, refusal));
      for (const method of ["POST", "PUT", "DELETE"]) {
        const ask = { headers: { [name]: '"v7"' }, ...(method === "DELETE" ? {} : { body: '{"name":"a"}' }) };
        const answer = await rig.ask(method, `${GROUPS}/abc`, ask);
        expect([answer.status, answer.text]).toEqual([412, refusal]);
        expect(double.requests.at(-1)?.fields.filter(([key]) => key.toLowerCase() === name)).toEqual([[name, '"v7"']]);
      }
      expect(double.requests).toHaveLength(3);
    },
  );

  it.each(["if-match", "if-unmodified-since"])(
    "on a write of several calls is 412, and nothing is sent: %s",
    async (name) => {
      const { rig, double } = inFrontOf(ok('{"uid":"abc"}'));
      const answer = await rig.ask("PUT", `${GROUPS}/abc`, {
        body: '{"name":"a","verified":true}',
        headers: { [name]: "x" },
      });
      expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([412, 9, "CONDITION_UNSUPPORTED"]);
      expect(double.requests).toEqual([]);
    },
  );
});

describe("a field of an answer", () => {
  const record = '{"uid":"abc","name":"a"}';

  it("of the platform comes along: what it says of its transport, its quota, its cookies, in order", async () => {
    const fields =
      "Grpc-Metadata-Content-Type: application/grpc\r\nGrpc-Metadata-X: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n";
    const { rig } = inFrontOf(http(200, record, fields));
    const answer = await rig.ask("GET", `${GROUPS}/abc`);
    expect(answer.headers.filter(([name]) => /^grpc-|^set-cookie$/.test(name))).toEqual([
      ["grpc-metadata-content-type", "application/grpc"],
      ["grpc-metadata-x", "1"],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ]);
  });

  it("names the type of the body, JSON, on every kind of answer", async () => {
    for (const [method, target, body] of [
      ["GET", GROUPS, undefined],
      ["GET", `${GROUPS}?id=none`, undefined],
      ["GET", `${GROUPS}/${group()}`, undefined],
      ["PUT", `${GROUPS}/${group()}`, '{"name":"a"}'],
      ["DELETE", `${GROUPS}/none`, undefined],
      ["GET", "/nowhere", undefined],
    ] as const) {
      const answer = await sandboxed().ask(method, target, body === undefined ? {} : { body });
      expect([target, answer.headers.filter(([name]) => name === "content-type")]).toEqual([
        target,
        [["content-type", "application/json"]],
      ]);
    }
  });
});
