import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scale } from "../support/scale.ts";
import { faults, file, NOW, read } from "./rules/context.ts";

const DESIGN = `version: carryover/v1
force: none
rules:
  - name: ci-reads
    match: { operation: reads, resource: [groups, repos], client: ci-bot, header: { X-Canary: always }, percent: 10 }
    mode: translate
    expires: 2027-03-01
    stepBack: { failures: 0.02, differences: 0.001, minRequests: 200, minClients: 3, window: 5m }
  - name: everything-else
    match: {}
    mode: shadow
    shadow: { sample: 0.1 }
    headers: { deprecation: 2026-12-01, sunset: 2027-06-30, documentation: https://example.com/migrate }
`;

describe("what a file says", () => {
  test("is read whole, with catalogue names, milliseconds and defaults", () => {
    const { rules, warnings } = read(DESIGN);
    expect(warnings).toEqual([]);
    expect(rules).toMatchObject({ force: "none", fallback: undefined });
    expect(rules.digest).toMatch(/^[0-9a-f]{12}$/);
    expect(rules.rules).toEqual([
      {
        name: "ci-reads",
        line: 4,
        match: {
          resources: new Set(["group", "repo"]),
          operations: new Set(["reads"]),
          clients: new Set(["ci-bot"]),
          header: { name: "x-canary", value: "always" },
          percent: 10,
        },
        mode: "translate",
        expires: Date.UTC(2027, 2, 1),
        shadow: { sample: 0.1, control: 0.1 },
        // One client is named: more can never be asked for.
        stepBack: {
          failures: 0.02,
          differences: 0.001,
          minRequests: 200,
          minComparisons: 20,
          minClients: 1,
          window: 300_000,
        },
        guard: { action: "stepBack", returnAfter: 900_000, slow: "warn" },
        identity: expect.stringMatching(/^[0-9a-f]{16}$/),
        evidenceKey: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
      {
        name: "everything-else",
        line: 9,
        match: {},
        mode: "shadow",
        shadow: { sample: 0.1, control: 0.1 },
        guard: { action: "stepBack", returnAfter: 900_000, slow: "warn" },
        headers: {
          deprecation: Date.UTC(2026, 11, 1),
          sunset: Date.UTC(2027, 5, 30),
          documentation: "https://example.com/migrate",
          successor: true,
        },
        identity: expect.stringMatching(/^[0-9a-f]{16}$/),
        evidenceKey: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    ]);
    expect(
      Object.isFrozen(rules) && Object.isFrozen(rules.rules) && Object.isFrozen(rules.rules[0]?.match.header),
    ).toBe(true);
  });

  const one = (rest: string) => read(file(`{ name: a, ${rest} }`)).rules.rules[0];

  test("one text is as good as a list of one", () => {
    for (const [single, list] of [
      ["resource: repos", "resource: [repo]"],
      ["operation: list", "operation: [list]"],
      ["client: a b", "client: ['a b']"],
    ]) {
      expect(one(`mode: translate, match: { ${single} }`)).toEqual(one(`mode: translate, match: { ${list} }`));
    }
  });

  test("times are instants, days of the week and minutes", () => {
    const time = "{ from: 2026-12-01, until: 2026-12-31T18:00:00+02:00, days: [mon, sun], hours: 22:00-06:30 }";
    expect(one(`mode: translate, match: { time: ${time} }`)?.match.time).toEqual({
      from: Date.UTC(2026, 11, 1),
      until: Date.UTC(2026, 11, 31, 16),
      days: new Set([1, 0]),
      hours: { begin: 1320, end: 390 },
    });
  });

  test("durations may be written as elsewhere in the configuration", () => {
    for (const [text, ms] of [
      ["90", 90_000],
      ["90s", 90_000],
      ["1500ms", 1500],
      ["2m", 120_000],
      ["1h", 3_600_000],
    ] as const) {
      expect(one(`mode: translate, match: {}, stepBack: { failures: 0, window: ${text} }`)?.stepBack?.window).toBe(ms);
    }
    expect(one("mode: translate, match: {}, stepBack: { failures: 0, returnAfter: 1h }")?.stepBack).toEqual({
      failures: 0,
      differences: undefined,
      minRequests: 200,
      minComparisons: 20,
      minClients: 3,
      window: 300_000,
      returnAfter: 3_600_000,
    });
  });

  test("a rule that goes forward keeps what it says of promotion", () => {
    const rule = one("mode: translate, match: {}, promoteWhen: { differencesBelow: 0.1 }");
    expect(rule).toMatchObject({ mode: "translate", promoteWhen: { differencesBelow: 0.1 } });
  });

  test("a rule that goes back to native keeps what it says of translation", () => {
    const keys = "stepBack: { failures: 0.1 }, guard: warn, onFailure: native, promoteWhen: { differencesBelow: 0.1 }";
    expect(one(`mode: native, match: {}, ${keys}`)).toMatchObject({ mode: "native", guard: { action: "warn" } });
  });

  test("promoteWhen only says so unless it is told to act", () => {
    expect(one("mode: shadow, match: {}, promoteWhen: { differencesBelow: 0.001 }")?.promoteWhen).toEqual({
      differencesBelow: 0.001,
      minClients: 3,
      automatic: false,
    });
  });

  test("a rule that translates compares where it says so, or has to know of differences", () => {
    const sampleOf = (more: string) => one(`mode: translate, match: {}${more}`)?.shadow.sample;
    expect(sampleOf("")).toBe(0);
    expect(sampleOf(", stepBack: { failures: 0.1 }")).toBe(0);
    expect(sampleOf(", stepBack: { differences: 0.1 }")).toBe(0.1);
    expect(sampleOf(", shadow: { sample: 0.3 }")).toBe(0.3);
  });

  test("without native v1 nothing is compared, and force and fallback are as said", () => {
    const { rules } = read(`force: translate\nfallback: refuse\n${file("{ name: a, match: {}, mode: translate }")}`, {
      native: false,
    });
    expect(rules.rules[0]?.shadow.sample).toBe(0);
    expect(rules).toMatchObject({ force: "translate", fallback: "refuse" });
  });

  test("a file without rules may force", () => {
    expect(read("version: carryover/v1\nforce: native\nrules: []\n").rules).toMatchObject({
      force: "native",
      rules: [],
    });
  });

  test("force: native warns of what stays refused, wherever that is said, and is taken all the same", () => {
    const forced = (fallback: string) => `version: carryover/v1\nforce: native\n${fallback}rules: []\n`;
    const left = "native leaves what v2 lacks refused with 501, for fallback is refuse";
    const remedy = "write fallback: native to have native v1 serve that too";
    expect(read(forced("fallback: refuse\n")).warnings).toEqual([`r.yaml:2:8 force: ${left}; ${remedy}`]);
    expect(read(forced(""), { fallback: "refuse" }).warnings).toEqual([`r.yaml:2:8 force: ${left}; ${remedy}`]);
    expect(read(forced("fallback: native\n"), { fallback: "refuse" }).warnings).toEqual([]);
    expect(read(forced(""), { fallback: "native" }).warnings).toEqual([]);
    expect(read(forced(""))).toMatchObject({ warnings: [], rules: { force: "native" } });
    for (const force of ["none", "translate"]) {
      const text = `version: carryover/v1\nforce: ${force}\nfallback: refuse\nrules: []\n`;
      expect(read(text, { fallback: "refuse" }).warnings).toEqual([]);
    }
  });

  test("byte order mark and line ends of Windows change nothing but the digest", () => {
    const windows = read(`\uFEFF${DESIGN.replaceAll("\n", "\r\n")}`).rules;
    expect(windows.rules).toEqual(read(DESIGN).rules.rules);
    expect(windows.digest).not.toBe(read(DESIGN).rules.digest);
  });

  test("a rule keeps identity and evidence across releases: state is saved under their digests", () => {
    const match =
      "resource: [repos, groups], operation: [reads, create], client: [b, a], header: { X-Canary: always }, cookie: { c: d }, percent: 10, time: { from: 2026-12-01, days: [tue, mon], hours: 08:00-17:00 }";
    const rest =
      "stepBack: { window: 5m, failures: 0.02, returnAfter: 1h }, headers: { sunset: 2027-06-30, deprecation: 2026-12-01 }, match: {}";
    const { rules } = read(
      file(`{ name: a, match: { ${match} }, mode: translate }`, `{ name: b, mode: translate, ${rest} }`),
    ).rules;
    expect(rules.map(({ identity, evidenceKey }) => [identity, evidenceKey])).toEqual([
      ["e26aeec48afc1ac2", "e790c62c4e591cfb"],
      ["0ee6c9e4d7bb0f74", "44136fa355b3678a"],
    ]);
  });

  test("a rule's identity changes with what is said, not with where or in which order", () => {
    const identity = (text: string, ...before: string[]) => read(file(...before, text)).rules.rules.at(-1)?.identity;
    const plain = identity("{ name: a, mode: translate, match: { resource: [group, repo], client: x } }");
    expect(
      identity(
        "{ match: { client: [x], resource: [repos, groups] }, name: a, mode: translate }",
        "{ name: b, mode: native, match: { client: y } }",
      ),
    ).toBe(plain);
    for (const other of [
      "{ name: b, mode: translate, match: { resource: [group, repo], client: x } }",
      "{ name: a, mode: native, match: { resource: [group, repo], client: x } }",
      "{ name: a, mode: translate, match: { resource: [group], client: x } }",
      "{ name: a, mode: translate, match: { resource: [group, repo], client: x, percent: 100 } }",
      "{ name: a, mode: translate, match: { resource: [group, repo], client: x }, expires: 2028-01-01 }",
      "{ name: a, mode: translate, match: { resource: [group, repo], client: x }, shadow: { sample: 0.2 } }",
      "{ name: a, mode: translate, match: { resource: [group, repo], client: x }, stepBack: { failures: 0.2 } }",
      "{ name: a, mode: translate, match: { resource: [group, repo], client: x }, headers: {} }",
    ]) {
      expect(identity(other), other).not.toBe(plain);
    }
  });

  test.each([
    ["{ name: a, mode: translate, match: { client: [x], resource: [repos, groups] } }", true],
    ["{ name: a, mode: native, match: { resource: [group, repo], client: x } }", true],
    ["{ name: a, mode: shadow, match: { resource: [group, repo], client: x }, shadow: { sample: 0.2 } }", true],
    ["{ name: a, mode: translate, match: { resource: [group, repo], client: x, percent: 10 } }", true],
    ["{ name: a, mode: translate, match: { resource: [group, repo], client: x }, expires: 2028-01-01 }", true],
    ["{ name: a, mode: translate, match: { resource: [group], client: x } }", false],
    ["{ name: a, mode: translate, match: { resource: [group, repo], client: y } }", false],
    ["{ name: a, mode: translate, match: { resource: [group, repo], client: x, operation: list } }", false],
  ])("evidence of a rule about the same requests holds for %s: %s", (text, holds) => {
    const keyOf = (of: string) => read(file(of)).rules.rules[0]?.evidenceKey;
    const plain = keyOf("{ name: a, mode: translate, match: { resource: [group, repo], client: x } }");
    expect(keyOf(text) === plain).toBe(holds);
  });
});

const rule = (rest: string) => file(`{ name: a, ${rest} }`);
const T = "mode: translate, match: {}";
const AT = "r.yaml:3:";
const match = (keys: string) => rule(`mode: translate, match: { ${keys} }`);
const plus = (rest: string) => rule(`${T}, ${rest}`);

describe("a file is refused with line, column and remedy for", () => {
  const cases: readonly (readonly [text: string, expected: string | RegExp])[] = [
    [`${file()}forse: native\n`, "r.yaml:3:1 forse: there is no such key; did you mean force?"],
    [plus("mach: {}"), /^r.yaml:3:44 rules.1.mach: there is no such key; did you mean match\?$/],
    [match("resources: group"), /rules.1.match.resources: there is no such key; did you mean resource\?$/],
    [plus("__proto__: {}"), /rules.1.__proto__: there is no such key; remove it$/],
    [match("header: { __proto__: x, y: z }"), /match.header: __proto__ is no name; remove it$/],
    ["rules: []\n", "r.yaml:1:1 version: required, and not given; expected carryover/v1"],
    ["version: carryover/v2\nrules: []\n", 'r.yaml:1:10 version: got "carryover/v2"; expected carryover/v1'],
    ["version: carryover/v1\n", "r.yaml:1:1 rules: required, and not given; expected a list of rules"],
    ["version: carryover/v1\nrules: { a: b }\n", 'r.yaml:2:8 rules: got {"a":"b"}; expected a list of rules'],
    [file("hello"), `${AT}5 rules.1: got "hello"; expected a map of keys`],
    [rule("mode: translate, match:"), /rules.1.match: it has no value; expected a map of keys$/],
    [`fallback:\n${file()}`, "r.yaml:1:10 fallback: it has no value; expected one of native, refuse"],
    [
      rule("match: {}"),
      /^r.yaml:3:5 rules.1.mode: required, and not given; expected one of native, shadow, translate, brownout$/,
    ],
    [rule("mode: translate"), /rules.1.match: required, and not given; expected a map of keys$/],
    [
      rule("mode: translte, match: {}"),
      /^r.yaml:3:22 rules.1.mode: got "translte"; expected one of native, shadow, translate, brownout$/,
    ],
    [
      file("{ name: A b, match: {}, mode: translate }"),
      /rules.1.name: got "A b"; expected a name of a-z, 0-9 and -, at most 63 characters/,
    ],
    [file("{ name: 5, match: {}, mode: translate }"), /rules.1.name: got 5; expected a name/],
    [
      file("{ name: a, match: { percent: 1 }, mode: translate }", "{ name: a, match: {}, mode: translate }"),
      'r.yaml:4:13 rules.2.name: "a" is the name of the rule in line 3 too; give each rule a name of its own',
    ],
    [match("percent: 101"), /^r.yaml:3:51 rules.1.match.percent: got 101; expected a percentage from 0 to 100$/],
    [match("percent: -0.1"), /percent: got -0.1; expected a percentage/],
    [match("percent: .nan"), /percent: got NaN; expected a percentage/],
    [match("percent: 10%"), /percent: got "10%"; expected a percentage/],
    [
      plus("shadow: { sample: 10 }"),
      /shadow.sample: got 10; expected a share from 0 to 1, such as 0.1 for every tenth$/,
    ],
    [plus("shadow: { control: -1 }"), /shadow.control: got -1; expected a share/],
    [
      rule("mode: shadow, match: {}, promoteWhen: { differencesBelow: 0 }"),
      /differencesBelow: got 0; expected a share above 0/,
    ],
    [
      rule("mode: shadow, match: {}, promoteWhen: { automatic: true }"),
      /promoteWhen.differencesBelow: required, and not given; /,
    ],
    [match("resource: gruops"), /match.resource: there is no resource "gruops"; did you mean groups\?$/],
    [
      match("resource: [zzzzzzzzzzzz]"),
      /there is no resource "zzzzzzzzzzzz"; name one of group, repo, role-binding, advisory, build-report$/,
    ],
    [
      match("resource: reports"),
      /match.resource: reports may be advisory or build-report; write the name that is meant$/,
    ],
    [
      match("resource: advisory, operation: create"),
      /match.operation: advisory has no operation "create"; name one of list$/,
    ],
    [
      match("resource: advisory, operation: writes"),
      /match.operation: advisory has no operation "writes"; name one of list$/,
    ],
    [match("operation: lst"), /these resources have no operation "lst"; did you mean list\?$/],
    [match("client: []"), /match.client: got \[\]; expected a client's name/],
    [match("client: ci-*"), /match.client: "ci-\*" is taken literally: rules name clients exactly; name each client$/],
    [match('client: " ci"'), /match.client: got " ci"; expected a client's name/],
    [match('client: "a\\u0007"'), /match.client: got "a\\u0007"; expected a client's name/],
    [
      match("header: { a: b, c: d }"),
      /match.header: got {"a":"b","c":"d"}; expected one name with a text as its value, such as { x-canary: always } \(quote/,
    ],
    [match("header: {}"), /match.header: got {}; expected one name/],
    [match("header: { 'a b': c }"), /match.header.a b: got "c"; expected one name/],
    [match("header: { a: true }"), /match.header.a: got true; expected one name with a text as its value/],
    [match("cookie: { a: never }"), /match.cookie: never always deselects; name another value, such as always$/],
    [match("header: { Authorization: x }"), /match.header: authorization holds credentials; /],
    [match("header: { cookie: a=b }"), /match.header: cookie holds many; use cookie:/],
    [plus("expires: 2027-02-30"), /rules.1.expires: got "2027-02-30"; expected a date such as 2027-03-01/],
    [plus("expires: 2027-02-03T00:00:00"), /rules.1.expires: got "2027-02-03T00:00:00"; expected a date/],
    [
      plus("expires: 2026-11-21"),
      /^r.yaml:3:53 rules.1.expires: 2026-11-21T00:00:00.000Z is over: the rule takes nothing; remove the rule, or name a later date$/,
    ],
    [match("time: { until: 2026-11-20 }"), /match.time.until: 2026-11-20T00:00:00.000Z is over/],
    [
      match("time: { from: 2027-01-02, until: 2027-01-02 }"),
      /^r.yaml:3:48 rules.1.match.time: there is no such moment; /,
    ],
    [match("time: { hours: 08:00-08:00 }"), /match.time: there is no such moment/],
    [
      match("time: { days: [monday] }"),
      /match.time.days: got \["monday"\]; expected one of sun, mon, tue, wed, thu, fri, sat/,
    ],
    [match("time: { hours: 8-18 }"), /match.time.hours: got "8-18"; expected hours such as 08:00-18:00/],
    [
      rule("mode: translate, match: { time: { from: 2027-02-01 } }, expires: 2027-02-01"),
      /rules.1.expires: is not after match.time.from/,
    ],
    [
      plus("headers: { deprecation: 2027-02-01, sunset: 2027-01-31 }"),
      /headers.sunset: is before headers.deprecation; /,
    ],
    [
      plus("headers: { documentation: example.com }"),
      /headers.documentation: got "example.com"; expected an http or https URL/,
    ],
    [plus("guard: stepback"), /rules.1.guard: got "?stepback"?; expected one of stepBack, warn, off/],
    [plus("onFailure: { statuses: 401 }"), /statuses: got 401; expected a list of 401, 403 and 429/],
    [
      plus('headers: { documentation: "https://a:b@example.com" }'),
      /expected an http or https URL without credentials/,
    ],
    [plus('headers: { documentation: "https://a/>; rel=x" }'), /expected an http or https URL/],
    [
      rule("mode: shadow, match: {}, stepBack: { failures: 0.1 }"),
      /rules.1.stepBack: has no effect: the rule never translates; remove it, or add promoteWhen$/,
    ],
    [plus("stepBack: { window: 5m }"), /rules.1.stepBack: says nothing on which to step back; /],
    [
      plus("stepBack: { failures: 1 }"),
      /stepBack.failures: has no effect: there is no more than all; name a share below 1$/,
    ],
    [
      plus("stepBack: { differences: 1 }"),
      /stepBack.differences: has no effect: there is no more than all; name a share below 1$/,
    ],
    [
      plus("shadow: { sample: 0 }, stepBack: { differences: 0.1 }"),
      /stepBack.differences: is never measured: shadow.sample is 0; /,
    ],
    [
      match("operation: [writes] }, stepBack: { differences: 0.1"),
      /stepBack.differences: is never measured: a translate rule compares reads/,
    ],
    [
      plus("stepBack: { failures: 0.1, window: 0 }"),
      /stepBack.window: got 0; expected a duration from 1 to 86400 seconds/,
    ],
    [
      rule("mode: shadow, match: {}, shadow: { sample: 0 }, promoteWhen: { differencesBelow: 0.1 }"),
      /promoteWhen: is never reached: shadow.sample is 0/,
    ],
    [
      file(`{ name: all, ${T} }`, "{ name: b, mode: native, match: { client: x } }"),
      "r.yaml:4:5 rules.2: b can never match: all (line 3) always matches first; move it up, make the earlier rule narrower, or remove it",
    ],
    [
      file(
        "{ name: r, mode: native, match: { operation: reads } }",
        "{ name: w, mode: native, match: { operation: writes } }",
        `{ name: b, ${T} }`,
      ),
      /r.yaml:5:5 rules.3: b can never match: r \(line 3\) and w \(line 4\) always match first; /,
    ],
    [
      "version: carryover/v1\n&k force: none\n*k : native\nrules: []\n",
      /^r.yaml:3:1: Map keys must be unique; write it as YAML 1.2$/,
    ],
    [plus("mode: native"), /^r.yaml:3:\d+: Map keys must be unique; write it as YAML 1.2$/],
    [`${file()}---\n${file()}`, /^r.yaml:\d+:1: .*document/],
    ["", "r.yaml:1:1: the file is empty; write at least version: carryover/v1 and rules: []"],
    [" \n\n", "r.yaml:1:1: the file is empty; write at least version: carryover/v1 and rules: []"],
    ["- a\n", "r.yaml:1:1: this is not a map of rules; begin with a key such as version: carryover/v1"],
    [
      `endMark: true\n${file()}`,
      "r.yaml:1:10 endMark: the last line of the file is not ...: it may have been cut off; write the file to its end, with ... as its last line",
    ],
  ];

  test("a rule that names what is guessed is reached behind any that does not", () => {
    const resources = [{ name: "tag", aliases: [], operations: [{ name: "summarise", write: false, guessed: true }] }];
    const text = file(`{ name: all, ${T} }`, "{ name: b, mode: translate, match: { operation: summarise } }");
    expect(faults(text, { resources })).toEqual([]);
    expect(faults(text, { resources, native: false })).toEqual([expect.stringContaining("b can never match")]);
  });

  test.each(cases)("%j: %s", (text, expected) => {
    const found = faults(text);
    if (typeof expected === "string") expect(found).toContain(expected);
    else expect(found.join("\n")).toMatch(new RegExp(expected.source, "m"));
    for (const fault of found) expect(fault).toMatch(/^r\.yaml:\d+:\d+( .+?)?: .+; .+$/);
  });

  test("a rule in another column than the others is one fault", () => {
    expect(faults("version: carryover/v1\nrules:\n  - name: a\n    match: {}\n- name: b\n")).toEqual([
      expect.stringMatching(/^r.yaml:5:1: A block sequence .*; begin each `- ` of the list in the same column, /),
    ]);
  });

  test("a mode, force, fallback, step back and comparisons that need a native v1 when there is none", () => {
    const text = `version: carryover/v1
force: native
fallback: native
rules:
  - { name: a, mode: native, match: { client: a } }
  - { name: b, mode: shadow, match: { client: b } }
  - { name: c, mode: translate, match: { client: c }, stepBack: { failures: 0.1 } }
  - { name: d, mode: translate, match: { client: d }, shadow: { sample: 0.1 } }
  - { name: e, mode: translate, match: { client: e }, shadow: { sample: 0 } }
`;
    expect(faults(text)).toEqual([]);
    const needs = "needs the platform's own v1, and upstream.v1.url is not set";
    expect(faults(text, { native: false })).toEqual([
      `r.yaml:2:8 force: native ${needs}; set upstream.v1.url, or force none or translate`,
      `r.yaml:3:11 fallback: native ${needs}; set upstream.v1.url, or refuse`,
      `r.yaml:5:22 rules.1.mode: native ${needs}; set upstream.v1.url, or translate`,
      `r.yaml:6:22 rules.2.mode: shadow ${needs}; set upstream.v1.url, or translate`,
      `r.yaml:7:65 rules.3.stepBack: stepping back ${needs}; set upstream.v1.url, or remove it`,
      `r.yaml:8:63 rules.4.shadow: comparing ${needs}; set upstream.v1.url, or remove it`,
    ]);
  });

  test("everything that is wrong, at once", () => {
    const text = file(
      "{ name: a, match: { percent: 900 }, mode: translate, x: 1 }",
      "{ name: a, match: { resource: nope }, mode: native }",
      "{ name: c, mode: translate, match: {}, promoteWhen: { differencesBelow: 2 } }",
    );
    expect(faults(text).length).toBe(5);
  });

  test("bytes that are no UTF-8, more than 256 KiB and more than 500 rules", () => {
    expect(faults(Uint8Array.of(0xff, 0xfe, 0x20))).toEqual(["r.yaml:1:1: this is not UTF-8; save it as UTF-8"]);
    expect(faults(new Uint8Array(256 * 1024 + 1).fill(35))).toEqual([
      "r.yaml:1:1: 262145 bytes are more than 256 KiB; split clients into fewer rules",
    ]);
    const many = Array.from({ length: 501 }, (_, at) => `{ name: r${at}, mode: native, match: { client: c${at} } }`);
    expect(faults(file(...many.slice(1)))).toEqual([]);
    expect(faults(file(...many)).join()).toContain("r.yaml:3:3 rules: ");
    expect(faults(file(...many)).join()).toContain("expected at most 500 rules");
  });

  test("a bomb of aliases", () => {
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
    for (let at = 1; at < 9; at++)
      bomb.push(`${"abcdefghi"[at]}: &${"abcdefghi"[at]} [${`*${"abcdefghi"[at - 1]}, `.repeat(9)}]`);
    expect(faults(bomb.join("\n"))).toEqual([expect.stringMatching(/^r.yaml:1:1: .*alias.*; begin with/i)]);
  });

  test("a value behind an alias, at the place of the alias", () => {
    const text =
      "version: carryover/v1\nrules:\n  - { name: a, mode: translate, match: &m { client: x, percent: 500 } }\n  - { name: b, mode: native, match: *m }\n";
    expect(faults(text).map((fault) => fault.split(":", 3).join(":"))).toEqual([
      "r.yaml:3:65 rules.1.match.percent",
      "r.yaml:4:37 rules.2.match.percent",
    ]);
  });
});

describe("rules that are over", () => {
  const text = file(
    "{ name: a, mode: native, match: { client: x }, expires: 2026-11-21T00:00:00Z }",
    `{ name: b, ${T} }`,
  );
  test("are kept with a warning when a process starts with a file that has grown old", () => {
    const { rules, warnings } = read(text, { expired: "warn" });
    expect(rules.rules.map(({ name, expires }) => [name, expires])).toEqual([
      ["a", NOW],
      ["b", undefined],
    ]);
    expect(warnings).toEqual([
      "r.yaml:3:61 rules.1.expires: 2026-11-21T00:00:00.000Z is over: the rule takes nothing; remove the rule, or name a later date",
    ]);
  });
  test("are kept with a warning while they are in force and something else in the file changes", () => {
    const before = read(text, { now: NOW - 1 }).rules;
    const inForce = new Set(before.rules.map(({ identity }) => identity));
    const { rules, warnings } = read(text.replace("rules:", "force: native\nrules:"), { inForce });
    expect(rules).toMatchObject({ force: "native", rules: [{ name: "a" }, { name: "b" }] });
    expect(warnings).toEqual([expect.stringContaining("rules.1.expires: 2026-11-21T00:00:00.000Z is over")]);
  });
  test("are refused when they are not those in force", () => {
    const inForce = new Set(read(text, { now: NOW - 1 }).rules.rules.map(({ identity }) => identity));
    expect(() => read(text.replace("client: x", "client: y"), { inForce })).toThrow(/rules\.1\.expires: .* is over/);
  });
  test("mean the same whenever the file is read", () => {
    const before = read(text, { now: NOW - 1 });
    expect(before.warnings).toEqual([]);
    expect(read(text, { expired: "warn" }).rules).toEqual(before.rules);
  });
});

test("settings without effect on a native rule are a warning", () => {
  const { warnings } = read(rule("mode: native, match: {}, shadow: { sample: 1 }"));
  expect(warnings).toEqual(["r.yaml:3:49 rules.1.shadow: has no effect: a native rule compares nothing; remove it"]);
});

test("a rule of 0 percent is allowed", () => {
  expect(read(match("percent: 0")).rules.rules[0]?.match.percent).toBe(0);
});

describe("a file half written", () => {
  /** Cut at every byte, or at every third. */
  const EVERY = scale(3, 1);
  const block = readFileSync(new URL("./rules/block.yaml", import.meta.url), "utf8");

  test("whatever it is cut to, is refused or read, and nothing else happens", () => {
    let [refused, taken] = [0, 0];
    for (const whole of [DESIGN, block]) {
      const bytes = new TextEncoder().encode(whole);
      expect(faults(bytes)).toEqual([]);
      for (let length = 0; length < bytes.length; length += EVERY) {
        if (faults(bytes.slice(0, length)).length > 0) refused += 1;
        else taken += 1;
      }
    }
    expect(refused).toBeGreaterThan(taken);
  });

  test("is always refused when it says that it has an end mark", () => {
    for (const whole of [DESIGN, block]) {
      const marked = `${whole.replace("rules:", "endMark: true\nrules:")}...\n`;
      expect(faults(marked)).toEqual([]);
      // Before the key is there, so are no rules; the final line end alone may be missing.
      const bytes = new TextEncoder().encode(marked);
      for (let length = 0; length < bytes.length - 1; length += EVERY) {
        expect(faults(bytes.slice(0, length)), `${length}`).not.toEqual([]);
      }
    }
  });
});

test("no bytes whatever make it throw anything but a list of faults", () => {
  const source = DESIGN.split(/(?=[ \n{}:,[\]])/);
  const odd = `\n,  - ,&a ,*a,!!binary ,? ,|\n,',",\u0000,\uFEFF,<<: ,__proto__: ,null,.inf,---\n,...\n,%YAML 1.1\n`;
  const piece = fc.oneof(fc.constantFrom(...source), fc.constantFrom(...odd.split(",")));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60, size: "max" }), (pieces) => {
      for (const fault of faults(pieces.join(""))) expect(fault).toMatch(/^r\.yaml:\d+:\d+/);
    }),
    { numRuns: scale(400, 1500) },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void faults(bytes)),
    { numRuns: scale(150, 500) },
  );
}, 60_000);

test.each([
  [
    0.1,
    "0.1 percent is one client in 1,000: percent goes from 0 to 100, and shadow.sample from 0 to 1; write 10 if you mean a share of 0.1",
  ],
  [
    0.5,
    "0.5 percent is one client in 200: percent goes from 0 to 100, and shadow.sample from 0 to 1; write 50 if you mean a share of 0.5",
  ],
])("%f percent looks like a share, and is taken with a warning", (percent, says) => {
  const { rules, warnings } = read(rule(`mode: translate, match: { percent: ${percent} }`));
  expect(rules.rules[0]?.match.percent).toBe(percent);
  expect(warnings).toEqual([expect.stringMatching(/^r\.yaml:\d+:\d+ rules\.1\.match\.percent: /)]);
  expect(warnings[0]).toContain(says);
});

test.each([0, 1, 10])("%f percent is no share", (percent) => {
  expect(read(rule(`mode: translate, match: { percent: ${percent} }`)).warnings).toEqual([]);
});

describe("a client that clients.names almost has", () => {
  const clients = new Set(["ci-bot", "worker-1", "billing-service", "team-a"]);
  const warned = (client: string) => read(rule(`mode: translate, match: { client: ${client} }`), { clients }).warnings;

  test.each([
    ["cibot", "ci-bot"],
    ["CI_Bot", "ci-bot"],
    ["ci-bat", "ci-bot"],
    ["billing-servcie", "billing-service"],
    ["worker1", "worker-1"],
  ])("%s is taken with a warning that names %s", (client, near) => {
    expect(warned(client)).toEqual([
      expect.stringMatching(
        new RegExp(`match\\.client: clients\\.names has no "${client}": .*did you mean ${near}\\?$`),
      ),
    ]);
  });

  test.each(["ci-bot", "worker-2", "team-b", "grafana", "web"])("%s is another", (client) => {
    expect(warned(client)).toEqual([]);
  });

  test("is not looked for where no client has a name", () => {
    expect(read(rule("mode: translate, match: { client: cibot }")).warnings).toEqual([]);
  });
});
