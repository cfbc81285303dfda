import { describe, expect, test } from "vitest";
import {
  type AskedRequest,
  type GivenRequest,
  invalidRequest,
  readRequest,
} from "../../src/commands/explain/request.ts";

const FILES = new Map([
  ["body.json", '{\n "name": "docs"\n}'],
  ["-", '{"name":"stdin"}'],
]);

function read(text: string, more: Partial<GivenRequest> = {}): AskedRequest & { readonly text: string } {
  const request = readRequest({ text, headers: [], ...more }, (path) => {
    const found = FILES.get(path);
    if (found === undefined) throw invalidRequest(`${path} cannot be read`);
    return Buffer.from(found);
  });
  return { ...request, text: Buffer.from(request.body).toString("utf8") };
}

describe("a method and a path", () => {
  test("are the request, byte for byte", () => {
    const target = "/iam/v1/groups/a%2Fb//../c?name=x%20y&&id=";
    expect(read(`get ${target}`)).toMatchObject({ method: "GET", target, headers: [], text: "" });
  });

  test("data makes it a POST, unless it says what it is", () => {
    expect(read("/iam/v1/groups", { data: "{}" }).method).toBe("POST");
    expect(read("/iam/v1/groups").method).toBe("GET");
    expect(read("PUT /iam/v1/groups/a", { data: "{}" }).method).toBe("PUT");
    expect(read("/iam/v1/groups/a", { data: "{}", method: "PUT" }).method).toBe("PUT");
  });

  test("data is text, a file, or standard input", () => {
    expect(read("PUT /a", { data: '{"a":1}' }).text).toBe('{"a":1}');
    expect(read("PUT /a", { data: "@body.json" }).text).toBe(FILES.get("body.json"));
    expect(read("PUT /a", { data: "@-" }).text).toBe(FILES.get("-"));
    expect(() => read("PUT /a", { data: "@missing" })).toThrow(/missing cannot be read/);
  });

  test("header fields are given one by one", () => {
    expect(read("GET /a", { headers: ["If-Match: x", "A:b:c", "Gone:"] }).headers).toEqual([
      ["if-match", "x"],
      ["a", "b:c"],
    ]);
    expect(() => read("GET /a", { headers: ["nothing"] })).toThrow(/Name: value/);
  });

  test.each([
    ["", /there is no request/],
    ["GET /a /b", /there is more/],
    ["https://api.example.com", /has no path/],
  ])("%j is refused", (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

describe("a curl line", () => {
  test("as people paste it", () => {
    const line = `$ curl -sS -X PUT 'https://api.example.com:8443/iam/v1/groups/a%2Fb?x=1#top' \\
      -H "Authorization: Bearer $TOKEN" \\
      --header 'If-Match: "1"' --compressed -k \\
      -d '{"name":"it'\\''s"}' -o /dev/null -w '%{http_code}' | jq .`;
    expect(read(line)).toMatchObject({
      method: "PUT",
      target: "/iam/v1/groups/a%2Fb?x=1",
      headers: [
        ["authorization", "Bearer $TOKEN"],
        ["if-match", '"1"'],
      ],
      text: '{"name":"it\'s"}',
      notes: ["$TOKEN is left as it is: nothing is expanded here", "ignored what follows the command: |"],
    });
  });

  test.each([
    ["curl -XDELETE https://x/a", "DELETE", "/a", ""],
    ["curl -sXPATCH https://x/a", "PATCH", "/a", ""],
    ["curl --request PUT --url https://x/a", "PUT", "/a", ""],
    ["curl https://x/a -d a=1 -d b=2", "POST", "/a", "a=1&b=2"],
    ["curl https://x/a --data-raw @body.json", "POST", "/a", "@body.json"],
    ["curl https://x/a --data-binary @body.json", "POST", "/a", '{\n "name": "docs"\n}'],
    ["curl https://x/a --json '{\"a\":' --json '1}'", "POST", "/a", '{"a":1}'],
    ["curl -G https://x/a -d name=b --data-urlencode 'id=c d/e'", "GET", "/a?name=b&id=c%20d%2Fe", ""],
    ["curl -G 'https://x/a?z=1' --data-urlencode 'p q'", "GET", "/a?z=1&p%20q", ""],
    ["curl -I https://x/a", "HEAD", "/a", ""],
    ["curl x.example.com/iam/v1/groups", "GET", "/iam/v1/groups", ""],
    ["curl https://x?a=1", "GET", "/?a=1", ""],
    ["curl 'https://user:secret@x/a/../b'", "GET", "/a/../b", ""],
  ])("%s", (line, method, target, text) => {
    expect(read(line)).toMatchObject({ method, target, text });
  });

  test("options of curl's own become header fields, and credentials never themselves", () => {
    const { headers } = read("curl -u me:secret -A agent -b 'a=b' https://x/a");
    expect(headers).toEqual([
      ["authorization", "Basic credentials"],
      ["user-agent", "agent"],
      ["cookie", "a=b"],
    ]);
  });

  test("a variable in the URL is read as a name", () => {
    expect(read('curl "$HOST/iam/v1/groups/\x24{UID}"')).toMatchObject({ target: "/iam/v1/groups/UID" });
    expect(read("curl https://x/iam/v1/groups/$ID").notes).toContain('$ID in the URL is read as "ID"');
  });

  test("options that are not known are named and ignored", () => {
    const { notes, target } = read("curl --no-such=token -Q --constructor https://x/a");
    expect(target).toBe("/a");
    expect(notes).toEqual([
      "curl's option --no-such is not known here and was ignored",
      "curl's option -Q is not known here and was ignored",
      "curl's option --constructor is not known here and was ignored",
    ]);
  });

  test.each([
    ["curl", /names no URL/],
    ["curl https://x/a https://x/b", /only one URL/],
    ["curl https://x/a --next https://x/b", /only one request/],
    ["curl -F a=b https://x/a", /multipart/],
    ["curl -T file https://x/a", /--data-binary/],
    ["curl https://x/a -X", /-X needs a value/],
    ["curl https://x/a -X 'a b'", /no method/],
    [`curl -${"s".repeat(200_000)} https://x/a`, /a blank between/],
  ])("%s is refused", (line, message) => {
    expect(() => read(line)).toThrow(message);
  });

  test("holds everything: nothing may stand beside it", () => {
    expect(() => read("curl https://x/a", { data: "{}" })).toThrow(/inside of it/);
  });
});
