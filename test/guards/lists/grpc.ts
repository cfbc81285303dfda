/** Guards on gRPC: what one connection, one call and one message may do. */
import { guards } from "../guard.ts";

const ATTACKS = ["test/grpc/attack.test.ts"];
const UNARY = ["test/grpc/unary.test.ts"];
const SESSIONS = ["test/grpc/sessions.test.ts"];
const PASSES = ["test/grpc/pass-through.test.ts"];

export const GRPC = [
  ...guards("src/grpc/server.ts", ATTACKS, [
    ["rapid resets", "control?.cancels.add(call.credential) === false", "false"],
    ["messages in crumbs", "piece.length >= CRUMBS.bytes || crumb()", "true"],
    ["metadata that is too long", "bytes > headerBytes ?", "bytes < 0 ?"],
    ["one connection's part of all calls", "const STREAMS_SHARE = 0.5;", "const STREAMS_SHARE = 1;"],
    ["clients that are gone", "if (unanswered || session.destroyed) {", "if (session.destroyed) {"],
    ["calls in flight", "edge.arrive(head, why)", "edge.arrive(head, undefined)", PASSES],
    ["the checks of HTTP", "if (problem !== undefined) throw problem;", "", PASSES],
    ["cancels of each caller", "throw TOO_MANY_CANCELS;", "{}"],
    ["connections without a call", "session.setTimeout(idleMs, () => session.close());", ""],
    ["a timeout that can be read", " ?? malformedTimeout(call);", ";", PASSES],
    ["a media type of gRPC", "405) : 415;", "405) : undefined;", PASSES],
    ["methods other than POST", '"POST" ? undefined : 405', '"POST" ? undefined : undefined', PASSES],
  ]),
  ...guards(
    "src/grpc/cancels.ts",
    ["test/grpc/cancels.test.ts"],
    [
      ["cancels of invented callers", "(!isKnown && all.isEmpty())", "false"],
      ["callers that are remembered", "setLatest(callers, caller, own, MOST_CALLERS);", "callers.set(caller, own);"],
    ],
  ),
  ...guards("src/grpc/call.ts", PASSES, [
    ["details that a client takes", "sizeOfFields(fields) <= room) return fields;", "true) return fields;"],
  ]),
  ...guards("src/edge/deadlines.ts", PASSES, [
    ["the client's deadline", "Math.min(this.clientAt, this.aliveAt + this.lifeMs)", "this.aliveAt + this.lifeMs"],
  ]),
  ...guards(
    "src/grpc/lingering.ts",
    ["test/grpc/ending.test.ts"],
    [
      ["time to end a call that has its response", "createDelay(now, lingerMs, most)", "createDelay(now, 0, most)"],
      ["what a client sends after its response", "return left >= 0;", "return true;"],
      ["the end of a request that is refused", 'stream.once("end", held(stream, then))', "held(stream, then)()"],
      ["the number of calls that linger", "if (waiting.all.size > most) first?.run();", ""],
    ],
  ),
  ...guards("src/grpc/relay.ts", PASSES, [
    ["a message that does not come whole", "fail(relay, slowSender(what, false))", "{}"],
    ["a response's head that does not come", "if (!call.isUnary) return;", "return;"],
    [
      "no message faster than it is taken",
      "if (to === undefined || to.write(chunk)) return true;",
      "to?.write(chunk);\n  if (to !== undefined) return true;",
      ["test/grpc/pass-through.test.ts > T-RPC-34"],
    ],
    ["sessions whose response is late", "target.sessions.suspect(up);", ""],
    ["a stream that was refused, once", "!relay.repeated &&", ""],
    ["what is kept of a request to repeat it", "if (bytes > REPEAT_BYTES || ", "if ("],
    ["writes in an unknown state", 'method: isRead(call) ? "GET" : "POST"', 'method: "GET"'],
    ["a response without a status", 'http === 200 && header(last, "grpc-status") === undefined', "false"],
    [
      "the upstream's part of a call that is over",
      "if (status === undefined && !up.destroyed) up.close",
      "if (up === undefined) up.close",
    ],
  ]),
  ...guards("src/grpc/stream-queue.ts", SESSIONS, [
    ["a credential's part of all streams", "Math.max(1, (most() - taken - 1) * CREDENTIAL_SHARE)", "most()"],
    ["the streams of strangers", "const UNACCEPTED_SHARE = 0.75;", "const UNACCEPTED_SHARE = 2;"],
  ]),
  ...guards("src/grpc/session.ts", SESSIONS, [
    ["sessions that may be dead", 'turn("avoided");', ""],
    ["pings that a server counts", "if (isSilent && pings === 0)", "if (isSilent)"],
    ["sessions that fall silent", "silence.add(session);", ""],
    ["sessions that break after a first byte", "if (!isSilent && streams > 0) listen();", ""],
    ["pings without a response in between", "if (pings === MOST_PINGS) {", "if (false) {"],
    ["acknowledgements that are still unread", "if (pinging === waited) http2", "http2"],
    ["sessions that acknowledge nothing", "setTimeout(unacknowledged, pongMs)", "undefined"],
  ]),
  ...guards("src/grpc/sessions.ts", SESSIONS, [
    ["what is the platform's fault", "pool.ready > 0 ? full() : failure(TOO_LATE, UNSENT)", "full()"],
  ]),
  ...guards(
    "src/grpc/rpcs.ts",
    ["test/grpc/descriptors.test.ts"],
    [["the number of names that are learned", " || served.size >= MOST_LEARNED", ""]],
  ),
  ...guards("src/grpc/port.ts", PASSES, [
    ["errors that prove no credential", "if (status !== OK && status !== UNAUTHENTICATED) return;", ""],
    ["open domains that prove no credential", 'if (version === "v1" || version === "v2")', "if (true)"],
  ]),
  ...guards("src/grpc/port.ts", PASSES, [
    ["the message of a token exchange", "Math.min(limits.bodyBytes, limits.requestBytes)", "limits.requestBytes"],
  ]),
  ...guards(
    "src/grpc/enums.ts",
    ["test/grpc/enums.test.ts"],
    [["numbers that mean something else in v1", "type.value[number] === undefined ? number", "true ? number"]],
  ),
  ...guards("src/grpc/rpcs.ts", ATTACKS, [["names of rpcs", "if (code !== RpcCode.OK || ", "if ("]]),
  ...guards("src/grpc/messages.ts", UNARY, [
    ["messages that are too large", "if (length > most) throw", "if (length < 0) throw"],
    [
      "messages that are cut off",
      "prefix === undefined || gathered.length() !== PREFIX + prefix.length",
      "prefix === undefined",
    ],
    [
      "one message",
      "if (gathered.length() > PREFIX + (prefix?.length ?? 0)) return reject",
      "if (false) return reject",
    ],
    ["a sender that stops", "fail(slowSender(what, true))", "{}"],
  ]),
  ...guards("src/grpc/unary.ts", UNARY, [
    ["fields of a message", 'if (counted === undefined) throw tooManyValues("fields");', ""],
    ["the body of a message", "if (request.body.length > bodyBytes) throw", "if (false) throw"],
    ["the target of a message", "if (count <= limit) return;", "return;"],
    ["the message of a request that is translated", "Math.min(bodyBytes, requestBytes)", "requestBytes"],
    ["responses that are too large", "if (bytes.length > limit) throw", "if (bytes.length < 0) throw"],
    ["lists that are too large", "if (whole > limit) throw", "if (whole < 0) throw"],
    ["lists that are going to be too large", "Math.floor(missing * least)", "0"],
  ]),
  ...guards("src/upstream/response-memory.ts", UNARY, [
    ["pages of a list whose message is held", "if (kept > 0 || holding()) return 0;", "if (kept > 0) return 0;"],
  ]),
  ...guards(
    "src/grpc/wire.ts",
    ["test/grpc/wire.test.ts"],
    [
      ["values on the wire", "if (scan.count > scan.values) throw", "if (false) throw"],
      ["levels on the wire", "if (depth <= 0) throw", "if (false) throw"],
      ["fields that the decoder would read as declared", "if (field !== undefined) scan.hasMisfits = true;", ""],
      ["numbers of unknown fields", "unknownNumbers.size < scan.unknown", "true"],
    ],
  ),
  ...guards(
    "src/grpc/long-messages.ts",
    ["test/grpc/long-messages.test.ts"],
    [["slices of a long list", "if (end - begin < SLICE_BYTES && ", "if ("]],
  ),
  ...guards(
    "src/grpc/status.ts",
    ["test/grpc/status.test.ts"],
    [
      ["details that trailers have room for", "details.length <= left ?", "true ?"],
      ["long bodies of errors", "body.length > MOST_ERROR_BYTES ? undefined : parsedJson", "parsedJson"],
    ],
  ),
];
