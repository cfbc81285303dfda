import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer as createHttps, type ServerOptions } from "node:https";
import { createServer as createTcp, type Server, type Socket } from "node:net";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { QUESTIONS } from "../../../src/commands/check/check.ts";
import { checkCertificate } from "../../../src/commands/check/reach.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { listening, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { fileWith } from "../../grpc/support/translating.ts";
import { LOCALHOST, OTHER_NAME } from "../../server/support/certificates.ts";
import { EXPIRED } from "./certificates.ts";
import { check, type Judged, judged, platform, settings, usualPlatform } from "./support.ts";

takeDownAfterEach();

const usual = usualPlatform();

const json = (status: number, body: unknown): RequestListener => {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
};

/** An https server that answers every list with no records. */
async function secure(options: ServerOptions): Promise<number> {
  return listening(createHttps(options, json(200, { groups: [] })));
}

const TOKEN = { env: { CARRYOVER_CHECK_TOKEN: "a.b.c" } };

/** A check of what listens as `server`. */
async function against(server: Server, argv: readonly string[] = []): Promise<Judged> {
  return judged(["--upstream-v2-url", `http://127.0.0.1:${await listening(server)}`, ...argv], TOKEN);
}

describe("addresses", () => {
  it("a port on which nobody listens is told, and nothing is called right", async () => {
    const server = createTcp();
    const port = await listening(server);
    await new Promise<void>((closed) => server.close(() => closed()));
    const report = await judged(["--upstream-v2-url", `http://127.0.0.1:${port}`], TOKEN);
    expect([report.code, report.verdict]).toEqual([1, "fail"]);
    expect(report.told("reach")).toEqual(["fail upstream.v2.url: nothing listens there (ECONNREFUSED)"]);
    expect(report.findings.filter(({ level }) => level === "ok")).toEqual([]);
    const asked = QUESTIONS.reads.map(({ id }) => id);
    expect(report.findings.map(({ probe }) => probe)).toEqual(asked);
    for (const id of asked.slice(2)) expect(report.told(id)).toEqual(["skipped the API was not reached"]);
    const { out } = await check(["--upstream-v2-url", `http://127.0.0.1:${port}`], TOKEN);
    expect(out.trimEnd().split("\n").at(-1)).toBe(`NOT RIGHT: 1 failure, ${asked.length - 2} not judged`);
  });

  it("a name that does not exist is told", async () => {
    const report = await judged(["--upstream-v2-url", "http://nobody.invalid"], TOKEN);
    expect(report.told("reach").join()).toMatch(/the name is not known \((ENOTFOUND|EAI_AGAIN)\)/);
  });

  const PATIENCE = ["connect", "headers", "body"].flatMap((which) => [
    `--upstream-v2-timeouts-${which}-seconds`,
    "100ms",
  ]);
  const drip = (socket: Socket): void => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"groups":[');
    const dripping = setInterval(() => socket.write(" "), 10);
    socket.on("close", () => clearInterval(dripping)).on("error", () => {});
  };
  const moved: RequestListener = (_, response) =>
    response.writeHead(302, { location: "https://login.example.com/x" }).end();
  it.each<[string, () => Server, readonly string[], RegExp]>([
    ["a server that never answers", () => createTcp(() => {}), PATIENCE.slice(2, 4), /fail .*no answer in time/],
    ["a response without an end", () => createTcp(drip), PATIENCE, /^fail upstream\.v2\.url: .*\(UPSTREAM_TIMEOUT\)/],
    [
      "no HTTP",
      () => createTcp((socket) => socket.end("220 mail.example ESMTP\r\n")),
      [],
      /fail .*does not speak HTTP/,
    ],
    ["a redirect to another host", () => createHttp(moved), [], /redirects to https:\/\/login\.example\.com;/],
    [
      "trouble",
      () => createHttp(json(503, { code: 14, message: "", details: [] })),
      [],
      /^fail upstream\.v2\.url answers 503, code 14, twice in a row$/,
    ],
  ])("%s is told as such, with nothing to set", async (_name, server, argv, told) => {
    const report = await against(server(), argv);
    expect(report.told("reach").join()).toMatch(told);
    expect(settings(report.findings)).toEqual([]);
  });

  it.each([200, 401, 403, 404])("a front that answers %i with a page is told apart from the API", async (status) => {
    const report = await against(
      createHttp((_request, response) => {
        response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end("<html>Log in</html>");
      }),
    );
    expect(report.told("reach")).toEqual([
      `fail upstream.v2.url answers ${status}, text/html: a front page, a login or another proxy, not the API`,
    ]);
    expect(report.told("lists").join()).toMatch(/^skipped/);
  });

  it("a redirect to https on the same host is what to set; the token follows no redirect", async () => {
    const seen: (string | undefined)[] = [];
    const port = await listening(
      createHttp((request, response) => {
        seen.push(request.url);
        response.writeHead(308, { location: `https://127.0.0.1:8443${request.url ?? ""}` }).end();
      }),
    );
    const report = await judged(["--upstream-v2-url", `http://127.0.0.1:${port}/base/`], TOKEN);
    expect(report.told("reach")).toEqual([
      "fail upstream.v2.url redirects to https://127.0.0.1:8443; carryover follows no redirect",
    ]);
    expect(settings(report.findings)).toEqual(["upstream.v2.url=https://127.0.0.1:8443/base"]);
    expect(seen).toHaveLength(1);
  });

  it("the other upstreams are asked as well, at first by one read each", async () => {
    const { judge, sandbox, url } = await platform();
    const fine = await judge(["--upstream-v1-url", url, "--upstream-sts-url", url]);
    expect(fine.verdict).toBe("ok");
    const others = sandbox.requests.map(({ target }) => target).filter((target) => /^\/(iam\/v1|sts)\//.test(target));
    expect(others.slice(0, 2)).toEqual([
      expect.stringMatching(/^\/iam\/v1\/groups\?id=[0-9a-f]{40}$/),
      "/sts/exchange",
    ]);
    const port = await listening(createHttp(json(404, { code: 5, message: "", details: [] })));
    const wrong = await judge([
      "--upstream-v1-url",
      `http://127.0.0.1:${port}`,
      "--upstream-sts-url",
      `http://127.0.0.1:${port}`,
    ]);
    expect(wrong.told("reach").filter((text) => text.startsWith("fail"))).toEqual([
      "fail upstream.v1.url: there is no /iam/v1/groups (404, code 5)",
      "fail upstream.sts.url: there is no /sts/exchange (404, code 5)",
    ]);
  });
});

describe("certificates", () => {
  const url = (port: number) => ["--upstream-v2-url", `https://localhost:${port}`];
  /** A check of a server with this certificate, which is trusted. */
  const trusting = async (options: { key: string; cert: string }) =>
    judged([...url(await secure(options)), "--upstream-v2-tls-ca-file", "ca.pem"], {
      ...TOKEN,
      files: { "ca.pem": options.cert },
    });

  it("of an unknown authority: name it in caFile", async () => {
    const report = await judged(url(await secure(LOCALHOST)), TOKEN);
    expect(report.code).toBe(1);
    expect(report.told("certificate").join()).toMatch(
      /^fail upstream.v2: signed by an authority that this machine does not know \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    );
    expect(report.of("certificate")[0]?.remedy).toContain("upstream.v2.tls.caFile");
    expect(report.told("reach").join()).toMatch(/fail .*the certificate is refused/);
  });

  it("of that authority, once named: accepted", async () => {
    const report = await trusting(LOCALHOST);
    expect(report.told("certificate").join()).toMatch(/^ok upstream.v2: accepted, valid for \d+ more days$/);
    expect(report.told("reach").join()).toMatch(/^ok upstream.v2.url answers/);
  });

  it("for another name: the names that it is for", async () => {
    const report = await trusting(OTHER_NAME);
    expect(report.told("certificate")).toEqual([
      "fail upstream.v2: the certificate is for other.example, not for localhost",
    ]);
  });

  it("that has ended: since when", async () => {
    const report = await trusting(EXPIRED);
    expect(report.told("certificate").join()).toMatch(/^fail upstream.v2: the certificate ended \d+ days ago$/);
  });

  it("that ends within two weeks: a warning", async () => {
    const { config } = loadConfig({
      flags: { upstreamV2Url: `https://localhost:${await secure(LOCALHOST)}`, upstreamV2TlsCaFile: "ca.pem" },
      env: {},
      readFile: () => new TextEncoder().encode(LOCALHOST.cert),
    });
    const end = Date.parse("2126-10-28T12:17:21Z");
    const finding = await checkCertificate("v2", config.upstream.v2, end - 13.5 * 86_400_000);
    expect([finding.level, finding.what]).toEqual(["warn", "upstream.v2: accepted, but valid for 13 more days"]);
    expect((await checkCertificate("v2", config.upstream.v2, end - 15 * 86_400_000)).level).toBe("ok");
  });

  it("where there is no TLS: http, or another port", async () => {
    const report = await judged(url(await listening(createHttp(json(200, {})))), TOKEN);
    expect(report.told("certificate").join()).toMatch(/^fail upstream.v2: what listens there does not speak TLS/);
  });

  it("of the client, when the platform asks for one", async () => {
    const port = await secure({ ...LOCALHOST, requestCert: true, rejectUnauthorized: true, ca: OTHER_NAME.cert });
    const files = { "ca.pem": LOCALHOST.cert };
    const report = await judged([...url(port), "--upstream-v2-tls-ca-file", "ca.pem"], { ...TOKEN, files });
    const [reach] = report.of("reach");
    expect(reach?.level).toBe("fail");
    expect(reach?.remedy).toMatch(/tls.certFile and tls.keyFile/);
  });

  it("no request is sent where the certificate is refused", async () => {
    let requests = 0;
    const port = await listening(createHttps(OTHER_NAME, () => requests++));
    await judged(url(port), TOKEN);
    expect(requests).toBe(0);
  });
});

describe("credentials", () => {
  it("none: what needs none is judged, the rest is not, and no gate passes", async () => {
    const { url, sandbox } = await platform();
    const report = await judged(["--upstream-v2-url", url]);
    expect([report.code, report.verdict]).toEqual([1, "unjudged"]);
    expect(report.told("credential").join()).toMatch(/^skipped none was given/);
    expect(report.of("credential")[0]?.remedy).toContain("--token-file");
    expect(report.told("version")).toEqual(["ok v2beta1 answers"]);
    expect(report.told("fields").join()).toMatch(/^skipped/);
    expect(sandbox.requests).toHaveLength(2);
  });

  it("none: the last line says how to give one", async () => {
    const { url } = usual();
    const { code, out } = await check(["--upstream-v2-url", url]);
    expect(code).toBe(1);
    expect(out.trimEnd().split("\n").at(-1)).toMatch(
      /^NOT JUDGED: \d+ not judged; no list was read: .*--token-file FILE .* CARRYOVER_CHECK_TOKEN$/,
    );
  });

  it("one that may read no list judges nothing either", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "PERMISSION_DENIED" }];
    const report = await against(createHttp(json(403, { code: 7, message: "", details })));
    expect([report.code, report.verdict]).toEqual([1, "unjudged"]);
    expect(report.told("fields")).toEqual(["skipped no list was answered"]);
    expect(new Set(report.findings.map(({ probe }) => probe))).toEqual(new Set(QUESTIONS.reads.map(({ id }) => id)));
  });

  it("one that the platform does not know is a failure", async () => {
    const { judge } = usual();
    const report = await judge([], "admin", { env: { CARRYOVER_CHECK_TOKEN: "a.b.c" } });
    expect([report.code, ...report.told("credential")]).toEqual([1, "fail the platform refuses it (401, code 16)"]);
    expect(report.findings.filter(({ probe, level }) => probe === "lists" && level === "ok")).toEqual([]);
  });

  it("one that has ended says since when", async () => {
    const { judge } = usual();
    const claims = Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) - 3_590 })).toString("base64url");
    const report = await judge([], "admin", { env: { CARRYOVER_CHECK_TOKEN: `e30.${claims}.sig` } });
    expect(report.told("credential")).toEqual(["fail the platform refuses it (401, code 16); it ended 60 minutes ago"]);
  });

  it("a front that answers 401 to everything leaves the version unjudged", async () => {
    const report = await against(createHttp(json(401, { code: 16, message: "", details: [] })));
    expect(report.told("version")).toEqual(["skipped a version that there is not is answered 401 too"]);
  });

  it("one for another audience than exchanged tokens will have: what to set", async () => {
    const { judge, sandbox, url } = usual();
    const { issuer, subject } = sandbox.wellKnown.assumable;
    const exchange = await fetch(
      `${url}/sts/exchange?aud=https://api.example.com&identity=${encodeURIComponent(sandbox.wellKnown.identity)}`,
      {
        headers: { authorization: `Bearer ${sandbox.oidcToken(issuer, subject, "https://api.example.com")}` },
      },
    );
    const { token } = (await exchange.json()) as { token: string };
    const env = { CARRYOVER_CHECK_TOKEN: token };
    const report = await judge(["--upstream-sts-url", url], "admin", { env });
    expect(report.told("credential")).toEqual([
      "ok accepted",
      `warn the token is for https://api.example.com, upstream.v2.audience is ${url}`,
    ]);
    expect(settings(report.findings)).toEqual(["upstream.v2.audience=https://api.example.com"]);
    const right = await judge(
      ["--upstream-sts-url", url, "--upstream-v2-audience", "https://api.example.com"],
      "admin",
      { env },
    );
    expect(right.of("credential").map(({ level }) => level)).toEqual(["ok", "ok"]);
  });
});

describe("the clock", () => {
  const dated = (date: string) =>
    usual((next) => async (request, options) => {
      const response = await next(request, options);
      return { ...response, headers: [...response.headers, ["date", date]] };
    });

  it.each([
    [-3_600_000, /^warn this machine is 3[56]\d\d seconds ahead of the platform$/],
    [3_600_000, /^warn this machine is 3[56]\d\d seconds behind the platform$/],
    [-20_000, /^ok this machine and the platform agree$/],
  ])("%i ms away from the platform's", async (offset, told) => {
    const { judge } = dated(new Date(Date.now() + offset).toUTCString());
    expect((await judge()).told("clock").join()).toMatch(told);
  });

  it("cannot be judged without a date", async () => {
    const { judge } = dated("yesterday");
    expect((await judge()).told("clock")).toEqual(["skipped the platform's answers carry no date"]);
  });
});

describe("gRPC", () => {
  const asked = async (change: (files: FileDescriptorProto[]) => FileDescriptorProto[]): Promise<readonly string[]> => {
    const { judge, sandbox, url } = usual();
    const { file } = fromBinary(FileDescriptorSetSchema, sandbox.descriptors());
    const bytes = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: change(file) }));
    const upstreams = [
      "--upstream-sts-url",
      `http://127.0.0.1:${await listening(createTcp((socket) => socket.end("no")))}`,
    ];
    const port = ["--listen-grpc-port", "0", "--upstream-v2-grpc-url", url, "--grpc-descriptors", fileWith(bytes)];
    return (await judge([...upstreams, ...port], "admin", { files: "disk" })).told("grpc");
  };

  it("a file of descriptors that is not used is named with the type that it lacks, and so is a token service without gRPC", async () => {
    const bill = create(FileDescriptorProtoSchema, {
      name: "bill.proto",
      package: "acme",
      syntax: "proto3",
      messageType: [{ name: "Bill", field: [{ name: "sum", number: 1, type: 11, label: 1, typeName: ".acme.Money" }] }],
    });
    expect(await asked((files) => [bill, ...files])).toEqual([
      expect.stringMatching(/^ok upstream.v2 speaks HTTP\/2/),
      expect.stringMatching(/^warn upstream.sts does not speak HTTP\/2/),
      "ok grpc.descriptors: 51 rpcs of v1 are translated",
      expect.stringMatching(/^note grpc.descriptors lacks fields/),
      expect.stringMatching(
        /^note grpc.descriptors: not used, since types are missing: .*bill.proto \(needs acme.Money\)/,
      ),
    ]);
  });

  it("descriptors of the API that lack types are a failure that names them", async () => {
    const lacking = await asked((files) => files.filter(({ name }) => !name.includes("common")));
    expect(lacking.at(-1)).toMatch(/^fail types are missing: \S+ \(needs .*\. Imports without a file: .*common/);
  });
});
