import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Found, RecordingRefused } from "../../src/recording/found.ts";
import { createRecordingReader, readRecorded } from "../../src/recording/reader.ts";

/** In pieces whose borders are anywhere. */
async function* pieces(text: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function read(text: string | Uint8Array, size?: number): Promise<Found[]> {
  const all: Found[] = [];
  for await (const found of readRecorded(pieces(text, size), "a.log")) all.push(found);
  return all;
}
const requests = (found: readonly Found[]) => found.flatMap((each) => (each.kind === "request" ? [each.request] : []));
const skips = (found: readonly Found[]) =>
  found.flatMap((each) => (each.kind === "skipped" ? [`${each.at.line}:${each.at.column} ${each.why}`] : []));

const AT = Date.UTC(2026, 10, 29, 11, 22, 6);
const GROUPS = "/iam/v1/groups?name=a";
const FORMATS: readonly (readonly [format: string, text: string, client: string, status: number])[] = [
  [
    "carryover recording",
    `{"time":"2026-11-29T11:22:06.000Z","method":"GET","target":"${GROUPS}","client":"ci","status":200,"mode":"native"}`,
    "ci",
    200,
  ],
  [
    "JSON access log",
    `{"time_iso8601":"2026-11-29T12:22:06+01:00","request":"GET ${GROUPS} HTTP/1.1","status":"200","http_user_agent":"ci/1"}`,
    "ci/1",
    200,
  ],
  [
    "JSON access log",
    '{"msec":"1795951326.000","request_method":"GET","uri":"/iam/v1/groups","args":"name=a","status":200}',
    "",
    200,
  ],
  [
    "JSON access log",
    `{"start_time":"2026-11-29T11:22:06.000Z","method":"GET","path":"${GROUPS}","response_code":404,"user_agent":"ci","authority":"api.example.com","response_code_details":"via_upstream"}`,
    "ci",
    404,
  ],
  [
    "combined log",
    `10.0.0.1 - ann [29/Nov/2026:11:22:06 +0000] "GET ${GROUPS} HTTP/1.1" 200 17 "-" "ci \\x22quoted\\x22" 0.003`,
    'ci "quoted"',
    200,
  ],
];

describe("a recording", () => {
  it.each(FORMATS)("is read as %s: %s", async (format, text, client, status) => {
    const [found] = await read(`${text}\n`);
    const mode = format === "carryover recording" ? "native" : undefined;
    const request = { at: AT, method: "GET", target: GROUPS, client, status, mode };
    expect(found).toEqual({ kind: "request", format, at: { line: 1, column: 1 }, request });
  });

  it("is read from carryover's own log, where only v1 requests are any", async () => {
    const line = (more: string) =>
      `{"level":"info","time":"2026-11-29T11:22:06.000Z","msg":"request","method":"GET",${more}}`;
    const found = await read(
      `${line('"path":"/iam/v1/groups","apiVersion":"v1","mode":"native","status":200,"client":"ci"')}\n${line('"path":"/iam/v2beta1/groups","apiVersion":"v2"')}\n{"level":"info","time":"2026","msg":"started"}\n`,
    );
    expect(found.map(({ kind }) => kind)).toEqual(["request", "other", "other"]);
    expect(found[0]).toMatchObject({ format: "carryover log", request: { target: "/iam/v1/groups", client: "ci" } });
  });

  it.each([undefined, 1, 100_000])("is read from HAR, pretty-printed or not, in pieces of %s bytes", async (size) => {
    const entry = (url: string, text: string) => ({
      startedDateTime: "2026-11-29T11:22:06.000Z",
      request: {
        method: "get",
        url,
        headers: [{ name: "User-Agent", value: "browser" }],
        cookies: [],
        queryString: [],
      },
      response: { status: 200, headers: [], content: { text } },
    });
    const har = {
      log: {
        version: "1.2",
        creator: { name: 'a "tool" {' },
        entries: [entry(`https://api.example.com${GROUPS}#top`, "}]{\\"), entry("https://api.example.com", "")],
        pages: [],
      },
    };
    for (const text of [JSON.stringify(har), JSON.stringify(har, null, 2)]) {
      const request = { at: AT, method: "GET", client: "browser", status: 200, mode: undefined };
      expect(requests(await read(text, size))).toEqual([
        { ...request, target: GROUPS },
        { ...request, target: "/" },
      ]);
    }
  });

  it("is unpacked where its content is compressed", async () => {
    const [, text] = FORMATS[0] ?? [];
    expect(requests(await read(Buffer.concat([gzipSync(`${text}\n`), gzipSync(`${text}\n`)])))).toHaveLength(2);
  });

  it("says how many requests it lacks", async () => {
    expect(await read('{"time":"2026","left":12,"why":"rate"}\n')).toEqual([{ kind: "gap", left: 12, why: "rate" }]);
  });
});

it("a file that grows is read again as long as it was the first time", async () => {
  const directory = mkdtempSync(join(tmpdir(), "carryover-reader-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "a.jsonl");
  const [, line] = FORMATS[0] ?? [];
  writeFileSync(file, `${line}\n{"time":`);
  const reading = createRecordingReader();
  const read = async () => {
    const all: Found[] = [];
    for await (const found of reading(file)) all.push(found);
    return all;
  };
  const first = await read();
  expect(first.map(({ kind }) => kind)).toEqual(["request", "skipped"]);
  appendFileSync(file, `"2026-11-29T11:22:07.000Z"}\n${line}\n`);
  expect(await read()).toEqual(first);
});

describe("what cannot be read is skipped, with its place and the reason:", () => {
  const [, good = ""] = FORMATS[0] ?? [];
  const [, , , , [, combined] = ["", ""]] = FORMATS;
  it.each([
    ["broken JSON", `${good}\n{"time":"x",,}\n${good}\n`, ["2:13 not valid JSON"], 2],
    ["a file cut off within a line", `${good}\n${good.slice(0, 40)}`, ["2:41 the file ends within this line"], 1],
    [
      "a foreign file",
      "PK\u0003\u0004\n\u0000\u0001\n",
      [
        "1:1 no known format: expected a carryover recording or log, JSON or combined access log, or HAR",
        "2:1 no known format: expected a carryover recording or log, JSON or combined access log, or HAR",
      ],
      0,
    ],
    [
      "JSON of something else",
      '{"hello":"world"}\n[1]\n',
      [
        "1:1 no method or path",
        "2:1 no known format: expected a carryover recording or log, JSON or combined access log, or HAR",
      ],
      0,
    ],
    [
      "a combined line without a status",
      `${combined.replace(" 200 ", " - ")}\n`,
      ["1:82 the status is not where the format has it"],
      0,
    ],
    [
      "control characters in a target",
      '{"method":"GET","target":"/iam/v1/a\\u0007","mode":"native"}',
      ["1:1 the path has characters other than visible ASCII"],
      0,
    ],
    [
      "a request line of a scanner",
      combined.replace(/"GET.*1.1"/, '"\\\\x16\\\\x03\\\\x01"'),
      ["1:45 the request line is not a method and a path in visible ASCII"],
      0,
    ],
    ["a line of megabytes", `${"x".repeat(3e6)}\n${good}\n`, ["1:1 this line is longer than 1 MiB"], 1],
    [
      "a HAR document that ends early",
      '{"log":{"entries":[{"request":{"method":"GET","url":"/iam/v1/roles"}},{"requ',
      ["1:76 the document ends early"],
      1,
    ],
    [
      "a HAR document that is no JSON further on",
      '{"log":{"entries":[{"request":{"method":"GET","url":"/iam/v1/roles"}},{"a":[}',
      ["1:77 not valid JSON"],
      1,
    ],
    [
      "a HAR document nested too deep",
      `{"log":{"x":${"[".repeat(200)}`,
      ["1:111 this is nested more than 100 deep"],
      0,
    ],
    [
      "a HAR entry of megabytes",
      `{"log":{"entries":[{"a":[${"1,".repeat(1e6)}1]},{"request":{"method":"GET","url":"/iam/v1/roles"}}]}}`,
      ["1:20 this entry is longer than 1 MiB without its long texts"],
      1,
    ],
  ])("%s", async (_, text, skipped, read_) => {
    const found = await read(text, 65_536);
    expect([skips(found), requests(found).length]).toEqual([skipped, read_]);
  });

  it("compressed data that ends early, or is damaged", async () => {
    const zipped = gzipSync(`${good}\n`.repeat(5000), { level: 0 });
    const half = Math.floor(zipped.length / 2);
    const early = await read(zipped.subarray(0, half), 65_536);
    expect(skips(early)).toEqual([
      expect.stringMatching(/ends within this line|no JSON/),
      expect.stringMatching("the compressed data ends early"),
    ]);
    const damaged = Buffer.from(zipped);
    damaged.fill(0xff, half, half + 8);
    expect(skips(await read(damaged, 65_536)).at(-1)).toMatch("the compressed data is damaged from here on");
    expect(requests(early).length).toBeGreaterThan(1000);
  });
});

describe("long texts in HAR", () => {
  it.each(["\\u00e9", "\\\\", '\\"', "é", "ab"])("are cut between two characters (%s)", async (unit) => {
    for (let shift = 0; shift < 7; shift++) {
      const text = "x".repeat(shift) + unit.repeat(70_000);
      const har = `{"log":{"entries":[{"response":{"status":200,"content":{"text":"${text}z"}},"request":{"method":"GET","url":"/iam/v1/roles"}}]}}`;
      const found = await read(har, 65_536);
      expect(skips(found)).toEqual([]);
      expect(requests(found)).toHaveLength(1);
    }
  });
});

describe("a recording with a credential is refused, and the credential is not shown:", () => {
  const SECRET = "s3cr3t-0123456789abcdef";
  it.each([
    [
      "a field of an access log",
      `{"method":"GET","path":"/iam/v1/roles","http_authorization":"Bearer ${SECRET}"}`,
      "1:40",
      "http_authorization",
    ],
    ["a token in an unsuspected field", `{"method":"GET","path":"/iam/v1/roles","x":"Bearer ${SECRET}"}`, "1:40", "x"],
    [
      "a parameter in JSON",
      `{"method":"GET","target":"/iam/v1/roles?access_token=${SECRET}","mode":"native"}`,
      "1:17",
      "target",
    ],
    [
      "a parameter in a combined log",
      `a - - [29/Nov/2026:11:22:06 +0000] "GET /iam/v1/roles?token=${SECRET} HTTP/1.1" 200 1 "-" "-"`,
      "1:61",
      "the request line",
    ],
    [
      "a referer",
      `a - - [29/Nov/2026:11:22:06 +0000] "GET /a HTTP/1.1" 200 1 "https://x.example/?code=${SECRET}" "-"`,
      "1:85",
      "referer, agent or what follows",
    ],
    [
      "a header field in HAR",
      `{"log":{"entries":[{"request":{"method":"GET","url":"/a","headers":[{"name":"Authorization","value":"${SECRET}"}]}}]}}`,
      "1:20",
      "Authorization",
    ],
    [
      "a cookie in HAR",
      `{"log":{"entries":[{"request":{"method":"GET","url":"/a","cookies":[{"name":"a","value":"${SECRET}"}]}}]}}`,
      "1:20",
      "cookies",
    ],
    [
      "a cookie that a response in HAR sets",
      `{"log":{"entries":[{"request":{"method":"GET","url":"/a"},"response":{"headers":[{"name":"Set-Cookie","value":"${SECRET}"}]}}]}}`,
      "1:20",
      "Set-Cookie",
    ],
    [
      "a body in HAR",
      `{"log":{"entries":[{"request":{"method":"POST","url":"/a","postData":{"text":"{\\"password\\":\\"${SECRET}\\"}"}}}]}}`,
      "1:20",
      "password",
    ],
  ])("%s", async (_, text, place, name) => {
    const refused: unknown = await read(text).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RecordingRefused);
    const { message } = refused as Error;
    expect(message).toContain(`a.log:${place}: there is a credential in `);
    expect(message).toContain(name);
    expect(message).not.toContain(SECRET);
  });

  it("but not for what was masked already", async () => {
    const masked = [
      '{"method":"GET","path":"/iam/v1/roles","authorization":"-","cookie":"","token":"[redacted]","password":"***"}',
      '{"time":"2026","method":"GET","target":"/iam/v1/roles?token=%E2%80%A6","mode":"native","client":"ci"}',
      'a - - [29/Nov/2026:11:22:06 +0000] "GET /iam/v1/roles?token=%E2%80%A6 HTTP/1.1" 200 1 "-" "-"',
    ];
    expect(requests(await read(masked.join("\n")))).toHaveLength(3);
  });
});
