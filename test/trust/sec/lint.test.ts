import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = resolve(import.meta.dirname, "../../../src");
/** Not what only judges the catalogue's own files. */
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !/^catalogue\//.test(name),
);

interface Ban {
  readonly what: string;
  /** Matches what is banned, in code without comments. */
  readonly pattern: RegExp;
  /** Must be found, so that the pattern is known to find anything. */
  readonly sample: string;
  /** Files that it is banned from; all without it. */
  readonly within?: RegExp;
  /** Where it is used nevertheless, and why that is no hole. */
  readonly but?: readonly (readonly [file: string, because: string])[];
}

const BANS: readonly Ban[] = [
  {
    what: "header objects that a hostile name can crash",
    pattern: /\b(?:headers|trailers)Distinct\b/,
    sample: "request.headersDistinct",
  },
  { what: "a lenient parser", pattern: /\binsecureHTTPParser\b/, sample: "createServer({ insecureHTTPParser: true })" },
  {
    what: "calls by Node's own client, whose connections are shared",
    pattern:
      /from "node:https"|import\s*\{[^}]*\b(?:request|get|Agent|globalAgent|ClientRequest)\b[^}]*\}\s*from "node:http"/,
    sample: 'import { createServer, request } from "node:http";',
    but: [
      [
        "fastify/transport.ts",
        "the plugin calls the carryover of its own process; an agent of its own is for that alone",
      ],
    ],
  },
  {
    what: "connections without a checked certificate",
    pattern:
      /rejectUnauthorized:(?!\s*true\b)|checkServerIdentity|NODE_TLS_REJECT_UNAUTHORIZED|secureProtocol|minVersion:\s*"TLSv1(?:\.1)?"/,
    sample: "{ rejectUnauthorized: false }",
    but: [
      [
        "commands/check/reach.ts",
        "`carryover check` looks at a certificate to say what is wrong with it, and sends nothing",
      ],
    ],
  },
  {
    what: "followed redirects, and undici's layers that keep or share answers",
    pattern: /\bmaxRedirections\b|\binterceptors?\b|\bRedirectHandler\b|\bfollowRedirects?\b/,
    sample: "dispatcher.compose(interceptors.redirect())",
  },
  {
    what: "undici's global connections and its calls that use them",
    pattern:
      /\b[gs]etGlobalDispatcher\b|import\s*\{[^}]*\b(?:fetch|request|stream|pipeline)\b[^}]*\}\s*from "undici"|(?<![.\w])fetch\(/,
    sample: 'await fetch("http://a")',
    but: [
      ["ledger/way-out.ts", "text that is shown to people, not code that runs"],
      ["commands/demo/traffic.ts", "clients of the demo call the demo"],
      ["commands/report/ask.ts", "`carryover report` asks the instances that its operator names"],
    ],
  },
  {
    what: "HTTP/2 to the platform, or several requests at a time on a connection",
    pattern: /allowH2:\s*true|pipelining:(?!\s*1\b)/,
    sample: "new Pool(url, { pipelining: 4 })",
  },
  {
    what: "objects filled with what somebody else wrote",
    pattern: /\bObject\.assign\([^;]*?,\s*(?:\.\.\.)?[A-Za-z.]+\s*[,)]/,
    sample: "Object.assign(target, parsed)",
    but: [
      ["grpc/call.ts", "trailers of our own"],
      ["grpc/descriptor-set.ts", "changes to a file of descriptors, whose type names its members"],
      ["upstream/dial.ts", "a message for an error of Node's"],
      ["drain/committed-list.ts", "changes to a state, whose type names its members"],
      ["drain/read-ahead.ts", "the same"],
      ["drain/state.ts", "the same"],
      ["rules/rule.ts", "members that conditions of rules name, whatever a file holds"],
    ],
  },
  {
    what: "members named by somebody else, written into plain objects",
    pattern: /\.__proto__|\["__proto__"\]|\bsetPrototypeOf\b/,
    sample: 'target["__proto__"] = value',
  },
  {
    what: "keys that are joined from several texts: two of them can be the same",
    pattern: /\.(?:get|has|set|delete|add)\(\s*(?:`[^`]*\$\{[^`]*\}[^`]*\$\{[^`]*\}[^`]*`|\[[^\]]*\]\.join\()/,
    sample: "map.get(`$" + "{a}|$" + "{b}`)",
    but: [
      ["commands/check/records.ts", "the path of a call"],
      ["grpc/descriptors.ts", "names of the operator's descriptors and of the catalogue"],
      ["history/events.ts", "a kind of event, which has no blank, and the name of a rule"],
      ["recording/entry.ts", "names of the catalogue"],
      ["rollout/native-writes.ts", "an operation of the catalogue, and a digest or the name of a rule"],
      ["runtime/takers.ts", "operations of the catalogue"],
      ["shadow/tally.ts", "names of the catalogue"],
      ["state/shared/packing.ts", "the name of a row, and the number of its part"],
      ["telemetry/unknown-fields.ts", "one of two words, a blank, and the rest"],
      ["router/router.ts", "two segments of a path, which hold no slash"],
      ["translate/composites/update-wrapped.ts", "names of the catalogue"],
      ["translate/error.ts", "names of the catalogue"],
    ],
  },
  {
    what: "code that is made while it runs",
    pattern: /(?<![.\w])eval\(|new Function\(|from "node:vm"|from "node:child_process"/,
    sample: 'eval("1")',
  },
  {
    what: "digests that can be forged",
    pattern: /create(?:Hash|Hmac)\(\s*"(?:md5|sha1)"/,
    sample: 'createHash("sha1")',
    but: [["state/shared/script.ts", "EVALSHA names a script so; it is ours, and names nothing else"]],
  },
  {
    what: "secrets compared in a time that tells them",
    pattern:
      /(?<!typeof )\b(?:token|secret)\b\s*[!=]==(?!\s*(?:undefined|""))|[!=]==\s*(?:options\.)?(?:token|secret)\b/,
    sample: "bearerOf(given) === token",
    within: /^(?:admin|upstream|drain)\//,
    but: [["drain/state.ts", "a page token of the platform's, which only the platform reads"]],
  },
];

/** Code without comments and with its line breaks. */
function codeOf(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(?<=^|\s)\/\/[^\n]*/g, "");
}
const codes = new Map(files.map((file) => [file, codeOf(readFileSync(join(SRC, file), "utf8"))]));

describe("T-SEC-03: the code does without", () => {
  it.each(BANS)("$what", ({ pattern, sample, within = /./, but = [] }) => {
    expect(sample).toMatch(pattern);
    const found = files.filter((file) => within.test(file) && pattern.test(codes.get(file) ?? ""));
    expect(found.toSorted()).toEqual(but.map(([file]) => file).toSorted());
  });
});

/** Jumps of the wall clock can change no timer that does not read it. (With a clock that jumps: flt/process-machine.all.ts.) */
it("T-FLT-22: the wall clock is read only where a date is meant", () => {
  const using = readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .filter((name) => /\bDate\.now\b|new Date\(\)/.test(readFileSync(join(SRC, name), "utf8")))
    .toSorted();
  // What rules, reports, logs and `Date` say is a time of day; a `Retry-After` may be a date; a file was taken at a time of day.
  expect(using).toEqual([
    ...["commands/check/command.ts", "commands/check/platform.ts", "commands/events/command.ts"],
    "commands/explain/command.ts",
    ...["model/clock.ts", "runtime/background-shadow.ts", "server/load-shedder.ts", "telemetry/log.ts"],
  ]);
});
