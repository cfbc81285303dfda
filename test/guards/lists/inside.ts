/** Guards that separate callers, secrets and lists inside carryover. */
import { guards } from "../guard.ts";

const CREDENTIALS = ["test/upstream/credentials.test.ts"];

export const INSIDE = [
  ...guards("src/model/http.ts", CREDENTIALS, [
    ["one credential, or none", "if (only !== undefined) return undefined;", ""],
  ]),
  ...guards("src/upstream/credentials.ts", CREDENTIALS, [
    ["a digest that nobody can work out", 'createHmac("sha256", secret)', 'createHmac("sha256", "")'],
    ["bearer tokens only", "|| !TOKEN.test(token)) return undefined;", ") return undefined;"],
  ]),
  ...guards(
    "src/admin/server.ts",
    ["test/admin/server.test.ts"],
    [
      ["a change needs a token", "server.post(path, { onRequest: refuse }, ", "server.post(path, "],
      ["a change needs a configured token", '? new Problem("UNAUTHENTICATED", missing)', "? undefined"],
    ],
  ),
  ...guards(
    "src/admin/access.ts",
    ["test/admin/access.test.ts", "test/admin/server.test.ts"],
    [
      [
        "the admin token",
        'return isSingle(request, "authorization") && sameText(bearerOf(request.headers.authorization), token)',
        "return true",
      ],
      ["an empty token is none", ' && given !== ""', ""],
      ["without a token only this machine", "if (isLocal(request)) return undefined;", "return undefined;"],
      [
        "no proxy in between",
        "if (Object.keys(request.headers).some((name) => FROM_A_PROXY.test(name))) return false;",
        "",
      ],
      ["no page in a local browser", '&& (host === "localhost" || isLoopback(host))', ""],
    ],
  ),
  ...guards(
    "src/admin/page.ts",
    ["test/admin/page.test.ts"],
    [
      ["a form of the page's own origin", "if (isSameOrigin(request)) done();", "if (true) done();"],
      ["a form of this login", 'return isFormToken(form.get("form") ?? "", key, session);', "return true;"],
      [
        "a session for a change",
        "if (key === undefined || session === undefined || force === undefined) return",
        "if (key === undefined || force === undefined) return",
      ],
      ["the token for a login", '|| !sameText((sent.get("token") ?? "").trim(), key)', ""],
      ["access to the news of the page", "if (!mayRead(request)) {", "if (false) {"],
      ["access to the page", "if (!mayRead(request)) return refuse(request, reply);\n      const html", "const html"],
      ["no login that leads elsewhere", "/^\\/(?![/\\\\])[\\x21-\\x7e]*$/.test(to)", "true"],
      ["open pages outside the limit of other connections", "    options.exempt(request);\n", ""],
    ],
  ),
  ...guards(
    "src/page/html.ts",
    ["test/page/escaping.test.ts"],
    [
      [
        "no unprintable character on the page",
        "return replaceUnprintable(cut(value, LONGEST));",
        "return cut(value, LONGEST);",
      ],
      ["geometry that is checked", "if (!/^[MLHVCZ0-9., e-]*$/i.test(path))", "if (false)"],
    ],
  ),
  ...guards(
    "src/page/markdown.ts",
    ["test/page/escaping.test.ts"],
    [["no HTML in Markdown", "html: false", "html: true"]],
  ),
  ...guards(
    "src/admin/session.ts",
    ["test/admin/page.test.ts"],
    [
      ["a session that ends", "seconds > now / 1000 && ", ""],
      ["a signed session", 'sameText(signature, sign(token, "session", expires))', "true"],
    ],
  ),
  ...guards(
    "src/admin/viewers.ts",
    ["test/admin/viewers.test.ts", "test/admin/page.test.ts"],
    [
      ["a limit of open pages", "viewers.size >= MOST_VIEWERS || isClosed", "isClosed"],
      ["an end for a viewer that does not read", "if (now() - viewer.unreadSince > UNREAD_MS) end(viewer);", ""],
      ["access while the page is open", "if (!viewer.isAllowed()) end(viewer);", ";"],
    ],
  ),
  ...guards(
    "src/json/memory.ts",
    ["test/json/growth.test.ts"],
    [
      ["no read of memory that has grown since", "if (this.#view.length === 0)", "if (false)"],
      [
        "copies of the kernel's words",
        "return this.#words.subarray(0, count);",
        "return new Int32Array(this.#bytes().buffer, at, count);",
      ],
    ],
  ),
  ...guards(
    "src/json/scan.ts",
    ["test/json/rewrite.test.ts", "test/json/tree.test.ts"],
    [
      ["the depth of JSON", 'if (depth <= 0) fail(at, "nested too deeply");', ""],
      ["UTF-8 only", 'if (!isUtf8(text)) fail(invalidUtf8(text), "invalid UTF-8");', ""],
      ["no byte order mark", 'fail(0, "byte order mark");', ";"],
      ["nothing behind a value", 'if (at < length) fail(at, "data after the value");', ""],
    ],
  ),
  ...guards(
    "src/rollout/saved-rollout.ts",
    ["test/state/damaged.test.ts"],
    [
      ["the check of a saved rule", "if (check !== undefined && check !==", "if (check === 1 && check !=="],
      ["a damaged entry may be any rule's", "if (!isNamed) lost.set(EVERY_OTHER, null);", ""],
      ["a lost force is native", "force: forced ?? LOST_FORCE,", 'force: forced ?? { command: "none" },'],
      ["earlier versions can read the file", "transitions: [],", ""],
    ],
  ),
  ...guards(
    "src/rollout/rule-state.ts",
    ["test/state/damaged.test.ts"],
    [
      ["an unknown rule is served by native v1", "if (state.unknown?.native === true) return", "if (false) return"],
      [
        "an unknown rule is not promoted",
        "if (isShared || !mayPromote(state) || state.unknown !== undefined)",
        "if (isShared || !mayPromote(state))",
      ],
      [
        "one of several replicas promotes nothing alone",
        "if (isShared || !mayPromote(state)",
        "if (!mayPromote(state)",
        ["test/runtime/shared-rules.test.ts"],
      ],
      ["for earlier versions an unknown rule stepped back", "stepBack && heldBack(stepBack);", "stepBack;"],
      [
        "repeats prove nothing of a rule",
        "isRepeat ? before.promotion : reducePromotion(",
        "reducePromotion(",
        ["test/rollout/repeats.test.ts"],
      ],
    ],
  ),
  ...guards(
    "src/runtime/shared-rules.ts",
    ["test/runtime/shared-rules.test.ts"],
    [["other responses are no evidence", "createRuleKeys(basis)", "createRuleKeys()"]],
  ),
  ...guards(
    "src/rollout/fleet-guard.ts",
    ["test/rollout/fleet-guard.test.ts"],
    [["a second counts once", "one.second <= guard.upTo ||", ""]],
  ),
  ...guards(
    "src/rollout/repeats.ts",
    ["test/rollout/repeats.test.ts"],
    [["a difference is no repeat", " || isDifference(result)", ""]],
  ),
  ...guards(
    "src/shadow/differences.ts",
    ["test/rollout/noise.test.ts"],
    [
      ["a later error explains no extra record", "if (failed || ", "if ("],
      ["more than is remembered explains no extra record", " || (still?.beyond ?? 0) > 0", ""],
    ],
  ),
  ...guards(
    "src/model/latest.ts",
    ["test/rollout/repeats.test.ts"],
    [
      [
        "what is remembered takes bounded memory",
        "if (map.size > most && oldest !== undefined) map.delete(oldest);",
        "",
      ],
    ],
  ),
  ...guards(
    "src/rollout/guard.ts",
    ["test/rollout/guard.test.ts", "test/rollout/guard-simulation.test.ts"],
    [
      ["a burst raises no alarm", "Math.min(MOST_PER_SECOND, more)", "more"],
      ["native must be known to serve reads", "return native >= NATIVE_SERVES;", "return true;"],
      ["one credential's writes raise no alarm", "? CALLERS_NEEDED : CALLERS_NEEDED_OWN_DAY;", "? 0 : 0;"],
    ],
  ),
  ...guards(
    "src/rollout/guard-watch.ts",
    ["test/end-to-end/cutover/guard.test.ts", "test/rollout/guard-watch.test.ts"],
    [
      ["two repeated reads in a second", "return rule.pairs <= PAIRS_PER_SECOND;", "return true;"],
      ["a platform that responds to others is not silent", "v2.respondedAt >= read.since", "false"],
    ],
  ),
  ...guards(
    "src/rollout/step-back.ts",
    ["test/rollout/retreat.test.ts"],
    [["a rule returns when v2 responds again", "|| phase.clean > 0;", "|| true;"]],
  ),
  ...guards(
    "src/runtime/on-failure.ts",
    ["test/end-to-end/cutover/guard.test.ts"],
    [
      ["statuses that the operator lists", "statuses.includes(status)", "true"],
      ["native's failures are not served", "if (failureOf(response.status) === undefined) {", "if (true) {"],
    ],
  ),
  ...guards(
    "src/state/lock.ts",
    ["test/state/lock.test.ts", "test/state/storage.test.ts"],
    [
      ["a live process keeps its directory", "if (now.whole !== seen.whole) throw await inUse();", ""],
      ["a process that waited removes no new file", "if (!isSame) await link(aside, path).catch(() => {});", ""],
      [
        "a paused process notices before it writes",
        "if (text !== undefined && tokenOf(text) === token) return;",
        "return;",
      ],
      ["a process that lost its directory stays out", "if (!(await options.isUnchanged()))", "if (false)"],
    ],
  ),
  ...guards(
    "src/router/path.ts",
    ["test/router/uid.test.ts", "test/router/router.test.ts"],
    [
      ["letters of a uid", "if (foreign !== null) throw", "if (false) throw"],
      ["segments of a uid", `  checkSegments(\`/\${uid}\`);\n`, ""],
    ],
  ),
  ...guards(
    "src/model/secrets.ts",
    ["test/model/secrets.test.ts"],
    [
      [
        "no header with a credential in a log",
        `  [/\\b((?:proxy-)?authorization|(?:set-)?cookie)(["']?\\s*[:=,]\\s*)[^\\r\\n]+/gi, \`$1$2\${GONE}\`],\n`,
        "",
      ],
      ["no short bearer token in a log", "(bearer|basic|digest|dpop|negotiate)(?:\\s|%20)+", "(never)(?:\\s|%20)+"],
      ["no beginning of a JWT in a log", "  [/(?:\\b|(?<=%[0-9A-Fa-f]{2}))eyJ[\\w-]*(?:\\.[\\w-]*)*/g, GONE],\n", ""],
      ["no query in a log", `  [/\\?[^\\s"'\`<>?]+/g, \`?\${GONE}\`],\n`, ""],
      ["no password of an address in a log", `  [USER_OF_URL, \`$1\${GONE}$2\`],\n`, ""],
      ["no nameless secret in a log", "  [/[\\w+=-]{48,}/g, GONE],\n", ""],
      ["the path of a log line has no query", "pathOf(path)", "path"],
      ["no JWT in an explanation", "    .replace(JWT, MASKED)\n", ""],
      ["no bearer token in an explanation", `    .replace(WITH_SCHEME, \`$1$2\${MASKED}\`)\n`, ""],
      ["no password of an address in an explanation", `    .replace(USER_OF_URL, \`$1\${MASKED}$2\`);`, ";"],
      ["no parameter of a secret name in what is shown", "names(piece, at).some(hides)", "false"],
      [
        "no header field of a secret name in what is shown",
        "return isSecretField(name) ? MASKED :",
        "return false ? MASKED :",
      ],
    ],
  ),
];
