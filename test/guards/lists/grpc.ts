/** Guards on gRPC: what one connection, one call and one message may do. */
import { guards } from "../guard.ts";

const ATTACKS = ["test/grpc/attack.test.ts"];
const UNARY = ["test/grpc/unary.test.ts"];
const PASSES = ["test/grpc/pass-through.test.ts"];

export const GRPC = [
  ...guards("src/grpc/server.ts", ATTACKS, [
    ["rapid resets", "resets() || cut()", "resets()"],
    ["messages in crumbs", "piece.length >= CRUMBS.bytes || crumb()", "true"],
    ["metadata that is too long", "> limits.headerBytes) {", "> Number.POSITIVE_INFINITY) {"],
    ["one connection's part of all calls", "const STREAMS_SHARE = 0.5;", "const STREAMS_SHARE = 1;"],
    ["clients that are gone", "if (unanswered || session.destroyed) {", "if (session.destroyed) {"],
    ["calls in flight", "const why = admit(here, () => credential);", "const why = undefined as never;"],
    ["the checks of HTTP", "if (problem !== undefined) throw problem;", "", PASSES],
    ["the client's deadline", "Math.min(call.clientAt, call.aliveAt + requestMs)", "call.aliveAt + requestMs", PASSES],
  ]),
  ...guards(
    "src/grpc/lingering.ts",
    ["test/grpc/ending.test.ts"],
    [
      ["time to end a call that has its response", "const LINGER_MS = 2_000;", "const LINGER_MS = 0;"],
      ["what a client sends after its response", "return left >= 0;", "return true;"],
    ],
  ),
  ...guards("src/grpc/relay.ts", PASSES, [
    [
      "no message faster than it is taken",
      "if (to === undefined || to.write(chunk)) return;",
      "to?.write(chunk);\n  if (to !== undefined) return;",
    ],
    ["a stream that was refused, once", "!relay.repeated &&", ""],
    ["a response without a status", 'header(trailers, "grpc-status") === undefined', "false"],
    [
      "the upstream's part of a call that is over",
      "if (status === undefined && !up.destroyed) up.close",
      "if (up === undefined) up.close",
    ],
  ]),
  ...guards("src/grpc/messages.ts", UNARY, [
    ["messages that are too large", "if (length > most) throw", "if (length < 0) throw"],
    ["messages that are cut off", "gathered.length() === PREFIX + prefix.length) resolve", "true) resolve"],
    ["one message", "if (gathered.length() > PREFIX + (prefix?.length ?? 0)) reject", "if (false) reject"],
  ]),
  ...guards("src/grpc/unary.ts", UNARY, [
    ["fields of a message", 'if (counted === undefined) throw tooManyValues("fields");', ""],
    ["the body of a message", "if (request.body.length > bodyBytes) throw", "if (false) throw"],
    ["the target of a message", "if (count <= limit) return;", "return;"],
    ["the message of a request that is translated", "Math.min(bodyBytes, maxBytes)", "maxBytes"],
    ["responses that are too large", "if (bytes.length > limits.maxBytes) throw", "if (bytes.length < 0) throw"],
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
      ["long bodies of errors", "if (body.length > MOST_ERROR_BYTES) return undefined;", ""],
    ],
  ),
];
