/** Guards on gRPC: what one connection, one call and one message may do. */
import { guards } from "../guard.ts";

const ATTACKS = ["test/grpc/attack.test.ts"];
const UNARY = ["test/grpc/unary.test.ts"];
const PASSES = ["test/grpc/pass-through.test.ts"];

export const GRPC = [
  ...guards("src/grpc/server.ts", ATTACKS, [
    ["rapid resets", "control?.cancels.add(call.credential) === false", "false"],
    ["messages in crumbs", "piece.length >= CRUMBS.bytes || crumb()", "true"],
    ["metadata that is too long", "bytes > headerBytes ?", "bytes < 0 ?"],
    ["one connection's part of all calls", "const STREAMS_SHARE = 0.5;", "const STREAMS_SHARE = 1;"],
    ["clients that are gone", "if (unanswered || session.destroyed) {", "if (session.destroyed) {"],
    ["calls in flight", "edge.arrive(head, why)", "edge.arrive(head, undefined)"],
    ["the checks of HTTP", "if (problem !== undefined) throw problem;", "", PASSES],
    ["cancels of each caller", "throw TOO_MANY_CANCELS;", "{}"],
  ]),
  ...guards("src/edge/deadlines.ts", PASSES, [
    ["the client's deadline", "Math.min(this.clientAt, this.aliveAt + this.lifeMs)", "this.aliveAt + this.lifeMs"],
  ]),
  ...guards("src/grpc/relay.ts", PASSES, [
    ["a message that does not come whole", "fail(relay, slowSender(what, false))", "{}"],
    ["a response's head that does not come", "if (!call.isUnary) return;", "return;"],
    [
      "no message faster than it is taken",
      "if (to === undefined || to.write(chunk)) return true;",
      "to?.write(chunk);\n  if (to !== undefined) return true;",
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
    ["the message of a request that is translated", "Math.min(bodyBytes, maxBytes)", "maxBytes"],
    ["responses that are too large", "if (bytes.length > limits.maxBytes) throw", "if (bytes.length < 0) throw"],
  ]),
  ...guards(
    "src/grpc/wire.ts",
    ["test/grpc/wire.test.ts"],
    [
      ["values on the wire", "if (scan.count > scan.values) throw", "if (false) throw"],
      ["levels on the wire", "if (depth <= 0) throw", "if (false) throw"],
      [
        "fields read as the decoder reads them",
        "if (wireType !== field.wireType && !isPacked) throw",
        "if (false) throw",
      ],
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
      ["details that trailers have room for", "details.length > MOST_DETAILS_BYTES", "false"],
      ["long bodies of errors", "if (body.length > MOST_ERROR_BYTES) return undefined;", ""],
    ],
  ),
];
