/** Guards on client requests, before anything else handles them. */
import { guards } from "../guard.ts";

/** Pure: without a listener. */
const GATE = ["test/edge/gate.test.ts"];
/** Over sockets, before the whole program. */
const sent = (...rows: readonly string[]) => rows.map((row) => `test/corpus/requests.test.ts > ${row}`);
/** By itself: Node refuses these too. */
const WITHOUT_PARSER = ["test/edge/gate.test.ts > T-SEC-04"];
const PASSED = "test/server/passthrough.test.ts";
const HEADERS = [`${PASSED} > T-SMG-19`];

export const FRONT = [
  ...guards("src/edge/request-checks.ts", GATE, [
    ["only HTTP 1.0 and 1.1", 'httpVersion !== "1.1" && httpVersion !== "1.0"', "false", sent("T-SMG-09: HTTP/2.0")],
    [
      "a Host with HTTP/1.1",
      'if (httpVersion !== "1.0") return',
      'if (httpVersion === "none") return',
      sent("T-SMG-06: no Host"),
    ],
    ["one Host", "hosts.length > 1 ||", "", sent("T-SMG-08: two Hosts")],
    ["a Host that is one", '!HOST.test(hosts[0] ?? "")', "false", sent("T-SMG-08: empty Host")],
    ["one Transfer-Encoding", "transfer.length > 1 ||", "", WITHOUT_PARSER],
    [
      "chunked alone",
      'transfer[0]?.toLowerCase() !== "chunked" ||',
      "",
      sent("T-SMG-07: identity before chunked", "T-SMG-03"),
    ],
    ["no chunks in HTTP/1.0", '|| httpVersion === "1.0") {', ") {", sent("T-SMG-03: chunks in HTTP/1.0")],
    ["no length beside chunks", "if (lengths.length > 0) return", "if (false) return", WITHOUT_PARSER],
    ["one Content-Length", "if (lengths.length > 1) return", "if (false) return", WITHOUT_PARSER],
    ["a Content-Length that is exact", "Number.isSafeInteger(Number(lengths[0])) ?", "true ?", WITHOUT_PARSER],
    ["the length of a target", "if (target.length <= uriBytes) return", "if (true) return"],
    [
      "the number of fields",
      "if (received.length <= MAX_FIELDS) return",
      "if (true) return",
      ["test/server/server.test.ts > T-SMG-13"],
    ],
    ["a target that is a path", '!target.startsWith("/") ||', ""],
    ["no target that begins with two slashes", '|| target.startsWith("//")', ""],
    ["no fragment", 'if (target.includes("#")) return', "if (false) return"],
    [
      "no backslash",
      'if (path.includes("\\\\")) return',
      "if (false) return",
      sent("T-SMG-10: target with slash and backslash"),
    ],
    ["no dot segments", "&& DOT_SEGMENT.test(path)", "&& false"],
    ["dot segments that are encoded", "(?:\\.|%2e){1,2}", "(?:\\.){1,2}", WITHOUT_PARSER],
    ["no way round in circles", "VIA_CARRYOVER.test(value)", "false", ["test/end-to-end/app/loop.test.ts"]],
    ["known methods", "(METHODS.has(method) ? undefined :", "(true ? undefined :", sent("T-SMG-12")],
    ["no upgrade", "if (!wantsUpgrade ||", "if (true ||"],
    [
      "one Authorization",
      "if (values.length > 1) return new Problem",
      "if (false) return new Problem",
      sent("T-SMG-16: two Authorizations"),
    ],
    ["an Authorization of valid bytes", 'if (!NOT_IN_VALUE.test(values[0] ?? "")) return', "if (true) return"],
    ["no Grpc-Metadata-Authorization", "if (header(received, AUTHORIZATION_METADATA) !== undefined)", "if (false)"],
    ["no gRPC", "return media !== undefined && ", "return media !== undefined && false && "],
  ]),
  ...guards(
    "src/server/http2-refusal.ts",
    ["test/server/http2-refusal.test.ts"],
    [
      ["no HTTP/2 after HTTP/1.1", " || socket.bytesRead !== PREFACE.length + rest.length", ""],
      ["the life of a connection with HTTP/2", "setTimeout(end, options.lifeMs)", "setTimeout(end, 60_000)"],
      ["the calls of a connection with HTTP/2", "if (++calls === MOST_CALLS) end();", ""],
      ["nothing of HTTP/1.1 on a connection with HTTP/2", "if (taken.has(socket)) return true;", ""],
    ],
  ),
  ...guards("src/model/http.ts", HEADERS, [
    ["no Proxy-Authorization for the platform", '  "proxy-authorization",\n', ""],
    ["no Keep-Alive for the platform", '  "keep-alive",\n', ""],
    ["no Proxy-Connection for the platform", '  "proxy-connection",\n', ""],
    ["no TE for the platform", '  "te",\n', ""],
    ["no Trailer for the platform", '  "trailer",\n', ""],
    ["no Upgrade for the platform", '  "upgrade",\n', ""],
    ["no HTTP2-Settings for the platform", '  "http2-settings",\n', ""],
    ["no Expect for the platform", '  "expect",\n', "", [`${PASSED} > T-SMG-18`]],
    ["no X-HTTP-Method-Override for the platform", '"x-http-method-override", ', ""],
    ["no X-HTTP-Method for the platform", '"x-http-method", ', ""],
    ["no X-Method-Override for the platform", ', "x-method-override"', ""],
  ]),
  ...guards("src/edge/headers.ts", HEADERS, [
    ["no Forwarded for the platform", ', "forwarded"]', "]"],
    ["X-Real-IP of trusted proxies only", '|| name === "x-real-ip" ?', "?"],
    ["X-Forwarded-* of trusted proxies only", 'name.startsWith("x-forwarded-") ||', ""],
    ["no Grpc-* for the platform", ': "drop";\n  }\n  if (DROPPED', ': "keep";\n  }\n  if (DROPPED'],
    ["no identity in Grpc-Metadata-*", "NOT_METADATA.has(name) || ", ""],
    ["no name of the gateway's own in Grpc-Metadata-*", ' || name.startsWith("grpc")) return', ") return"],
    [
      "no X-Forwarded-* in Grpc-Metadata-*",
      'return handling === "forwarded" ? "drop" : handling',
      'return handling === "forwarded" ? "keep" : handling',
    ],
    ["no names that look like those of ours", 'isLookAlike(lettersOf(name)) ? "odd" : "keep"', '"keep"'],
    ["what Connection names ends here", "|| named.has(name)) continue", ") continue"],
  ]),
  ...guards(
    "src/edge/admission.ts",
    ["test/edge/admission.test.ts"],
    [
      ["the number of requests at a time", 'if (here >= inFlight) return refuse("shed-in-flight", true);', ""],
      ["the share of one credential in it", " || used > (inFlight - here) * CREDENTIAL_SHARE", ""],
      ["the share of credentials that were not accepted", "isFull || ", ""],
      ["a share for each credential under overload", " && hasItsShare", ""],
    ],
  ),
  ...guards(
    "src/edge/headers.ts",
    ["test/edge/trust.test.ts"],
    [["nobody is trusted unasked", "return () => false", "return () => true"]],
  ),
  ...guards(
    "src/server/request-lifecycle.ts",
    ["test/server/server.test.ts > limits", "test/server/server.test.ts > closing"],
    [
      [
        "unknown expectations are refused",
        'else if (expectation === "unknown")',
        "else if (false)",
        sent("T-SMG-18: unknown expectation"),
      ],
    ],
  ),
  ...guards(
    "src/server/request-body.ts",
    ["test/server/answer.test.ts > over the limit"],
    [
      ["the stated length of a body", "> limit) throw tooLong();", "> Infinity) throw tooLong();"],
      [
        "the length of a body that comes",
        "if (gathered.length() + chunk.length > limit) return reject(tooLong());",
        "",
      ],
      [
        "a body that is not here takes no connection without a place",
        "if (hasAskedForRoom || hasRoom()) return !hasAskedForRoom;",
        "begin(false);",
        ["test/trust/slo/senders.test.ts > hold a quarter of the connections"],
      ],
    ],
  ),
  ...guards(
    "src/server/upload-slots.ts",
    ["test/server/uploads.test.ts"],
    [
      ["half of the connections for bodies", "total < most ? waiting : []", "waiting"],
      ["a quarter of them for one caller", "count < mostOfOne && ", ""],
    ],
  ),
  ...guards(
    "src/edge/send-rate.ts",
    ["test/edge/pace.test.ts"],
    [
      ["bytes a second", "if (this.latest.length < beats || bytes >= ", "if (true || bytes >= "],
      ["nothing sent over a connection", "if (this.connected && this.silentMs >= stallMs)", "if (false)"],
      ["a client that may not send is not to blame", "  rests(): void {\n    this.stop?.();", "  rests(): void {"],
    ],
  ),
  ...guards(
    "src/edge/edge.ts",
    ["test/edge/edge.test.ts"],
    [
      ["requests of all ports", "admit(crowd.here, credential)", "admit(gate.inFlight, credential)"],
      ["what is not here yet counts against its sender", "this.gate.crowd.receive(this.credential, 1);", ""],
      ["faults before the load", "if (faulty !== undefined || why === undefined)", "if (why === undefined)"],
      ["what is open at the end of a shutdown", "for (const arrival of all) end(arrival, stopping(arrival));", ""],
    ],
  ),
  ...guards(
    "src/edge/deadlines.ts",
    ["test/edge/deadlines.test.ts"],
    [
      ["the time of a request", "if (timer === undefined) wait(one, one.startedAt);", ""],
      ["the time of streams", "if (lifeMs < usualMs || one.sweep !== undefined) leaveRing(one);", ""],
    ],
  ),
  ...guards(
    "src/edge/body-limits.ts",
    ["test/edge/body-memory.test.ts"],
    [
      ["memory for a body", "await hold.grow(bytes, signal);", ""],
      ["memory for the rest of a body", "hold === undefined ? begin(room) : hold.grow(room, signal)", "begin(room)"],
      [
        "a stranger's turn before a long body",
        "await inTurn(caller, processorShare, signal, () => {}, claim * MS_PER_BYTE);",
        "",
      ],
    ],
  ),
  ...guards(
    "src/edge/processor-share.ts",
    ["test/edge/duty.test.ts"],
    [["the processor's rest after work for strangers", "PAUSE_FACTOR * (ended - began + knownMs)", "0"]],
  ),
  ...guards(
    "src/translate/body.ts",
    ["test/translate/body.test.ts > more values"],
    [["the values of a body", "if (hasMoreValues(bytes, MOST_VALUES)) throw", "if (false) throw"]],
  ),
  ...guards(
    "src/json/rewrite.ts",
    ["test/json/slices.test.ts"],
    [["turns between the records of a long page", "from + SLICE_BYTES", "from + 2 ** 30"]],
  ),
  ...guards(
    "src/upstream/response-memory.ts",
    ["test/upstream/held.test.ts"],
    [
      ["memory before a call", "wanted > 0 ? await wait(wanted, options.signal) : undefined", "undefined"],
      ["memory for a response", "!memory.fits(owner, bytes - mine)", "false"],
      ["a request never waits for itself", "if (kept > 0 || holding()) return 0;", ""],
    ],
  ),
  ...guards(
    "src/model/memory-budget.ts",
    ["test/model/memory-budget.test.ts"],
    [
      ["half of the memory for one owner", "(owner?.held ?? 0) + wanted <= share && ", ""],
      ["all memory held for clients", " && total + wanted <= limit", ""],
    ],
  ),
  ...guards(
    "src/server/response.ts",
    [
      "test/server/faults.test.ts > in the middle of its answer",
      "test/server/faults.test.ts > an upstream that breaks off",
    ],
    [
      [
        "an answer that is cut off in HTTP/1.1",
        'if (req.httpVersion === "1.1") res.destroy();',
        'if (req.httpVersion === "1.1") res.end();',
      ],
      ["an answer that is cut off in HTTP/1.0", "else req.socket.resetAndDestroy();", "else res.end();"],
      [
        "no second request behind one that was refused",
        "if (CONNECTION_ENDING.has(problem.reason)) request.last = true;",
        "",
        ["test/trust/smg/connections.test.ts > T-SMG-08"],
      ],
    ],
  ),
  ...guards(
    "src/server/response.ts",
    ["test/server/server.test.ts > closing"],
    [["the last answer of a connection says so", 'headers.push(["connection", "close"]);', ""]],
  ),
  ...guards(
    "src/server/respond.ts",
    ["test/server/answer.test.ts"],
    [
      ["no cache keeps an answer", 'if (!kept) headers.push(["cache-control", "private, no-store"]);', ""],
      ["an answer varies with its credential", 'if (!varies) headers.push(["vary", "Authorization"]);', ""],
    ],
  ),
  ...guards(
    "src/server/request-lifecycle.ts",
    ["test/server/server.test.ts > of a request whose head could not be read"],
    [["bytes that could not be read are not told", "cause: new Error(error.code)", "cause: error"]],
  ),
];
