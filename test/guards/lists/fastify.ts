/** Guards of the Fastify plugin and of the Unix socket that it uses. */
import { guards } from "../guard.ts";

const SOCKET = ["test/server/unix-socket.test.ts"];
const CONFIG = ["test/config/config.test.ts > a Unix socket", "test/config/config.test.ts > the path of a Unix socket"];
const PLUGIN = "test/fastify/plugin.test.ts";
const TRAFFIC = "test/fastify/traffic.test.ts";
const TRANSPORT = ["test/fastify/transport.test.ts"];
const HTTP2 = ["test/fastify/http2.test.ts"];

const registered = (words: string) => [`${PLUGIN} > ${words}`];
const sent = (words: string) => [`${TRAFFIC} > ${words}`];

export const FASTIFY = [
  ...guards("src/server/server.ts", SOCKET, [
    ["a socket for this user alone", "const SOCKET_MODE = 0o600;", "const SOCKET_MODE = 0o666;"],
    ["a folder for this user alone", "const FOLDER_MODE = 0o700;", "const FOLDER_MODE = 0o755;"],
    ["no folder of another user", "if (uid !== process.getuid?.())", "if (false)"],
    ["no folder that others may open", "if ((mode & OTHERS) !== 0)", "if (false)"],
    ["no file in the place of a socket", "if (!found.isSocket()) throw", "if (false) throw"],
    ["no socket of a live process", "if (await isServed(path)) throw", "if (false) throw"],
    ["a busy server is alive", 'code !== "ECONNREFUSED"', "false"],
    ["what a killed process left behind", "await unlink(path);", ""],
    ["the reason of a socket that cannot be created", "if (error instanceof ConfigError) throw error;", "throw error;"],
  ]),
  ...guards("src/config/checks.ts", CONFIG, [
    ["a path that a socket can have", "if (bytes > MOST_SOCKET_BYTES) {", "if (false) {"],
    ["a way in for clients", "if (port !== undefined || socket !== undefined) return [];", "return [];"],
  ]),
  ...guards("src/edge/edge.ts", SOCKET, [["trust for the socket", "head.isLocal === true || ", ""]]),
  ...guards("src/server/server.ts", SOCKET, [
    ["no trust for the port of a server with a socket", "create(false)", "create(true)"],
  ]),
  ...guards("src/server/response.ts", sent("refused early"), [
    ["a response that a client which still sends can read", "if (req.complete || socket.destroyed) return", "return"],
  ]),
  ...guards(
    "src/fastify/peers.ts",
    ["test/fastify/peers.test.ts"],
    [
      ["Fastify of one major version", "if (version.startsWith(`$" + "{FASTIFY_MAJOR}.`)) return;", "return;"],
      ["the proxy of one major version", "if (!version.startsWith(", "if (false && !version.startsWith("],
      [
        "the name of a missing package",
        "throw new Error(`$" + "{needs}, which",
        "throw cause ?? new Error(`$" + "{needs}, which",
      ],
    ],
  ),
  ...guards("src/fastify/plugin.ts", registered(""), [
    ["no app of Fastify 4", "  requireFastify(app);\n", "", registered("of Fastify 4")],
    [
      "a prefix that is a path",
      "(whole !== undefined && isPathPrefix(whole))",
      "whole !== undefined",
      registered("refuses a prefix"),
    ],
    ["one base path", "listen.basePath !== prefix) {", "false) {", registered("refuses another base path")],
    ["the prefix of the context", 'outer.replace(/\\/$/, "") + given', "given", registered("prefix of its context")],
    [
      "a route that the app has",
      "throw new Error(`carryover/fastify: the app already",
      "throw cause ?? new Error(`carryover/fastify: the app already",
      registered("whose route the app has"),
    ],
    ["no admin port of a plugin", 'admin: { port: "none", ...admin }', "admin", registered("opens no port")],
    [
      "no port of a plugin",
      'port: listen?.port ?? ("none" as const)',
      "port: listen?.port ?? 0",
      registered("opens no port"),
    ],
    [
      "a path of the system's that a socket can have",
      "if (Buffer.byteLength(path) > MOST_SOCKET_BYTES) return",
      "if (false) return",
      registered("would be too long"),
    ],
    [
      "a folder that can be written to",
      "accessSync(dirname(dirname(path)), constants.W_OK);",
      "",
      registered("cannot be written"),
    ],
    ["the app as a proxy on a port", '?? []), "127.0.0.1"],', "?? [])],", registered("cannot be written")],
    [
      "the end of carryover with the app",
      'app.addHook("onClose", () => close(carryover, place));',
      "",
      registered("removes its socket"),
    ],
    [
      "no folder that stays",
      ".isOwn) await rmdir(dirname(place.socket))",
      ".isOwn) await Promise.resolve()",
      registered("removes its socket"),
    ],
    ["no retries by the proxy", "        retryMethods: [],\n", "", sent("is not repeated")],
    ["a body that the app does not parse", "scope.removeAllContentTypeParsers();", "", sent("has its body unread")],
    [
      "a media type that Fastify cannot read",
      'scope.addHook("preParsing", hideInvalidType);',
      "",
      sent("has its body unread"),
    ],
    [
      "the media type as it was sent",
      "if (request[INVALID_TYPE] !== undefined) headers",
      "if (false) headers",
      sent("has its body unread"),
    ],
    ["no address that a client claims", "delete headers[name];", "void name;", sent("none that its client claims")],
    [
      "the app's own trust in proxies",
      "ips !== undefined && ips.length > 1;",
      "true;",
      sent("none that its client claims"),
    ],
    ["the protocol that the app trusts", 'headers["x-forwarded-proto"] = protocol;', "", sent("that the app trusts")],
    [
      "the host that the app trusts",
      'headers["x-forwarded-host"] = host || undefined;',
      "",
      sent("that the app trusts"),
    ],
    ["the addresses that the app trusts", "[...ips].reverse()", "ips", sent("that the app trusts")],
    [
      "carryover's own form without carryover",
      "replyUnreachable(reply, error),",
      "reply.code(500).send(error),",
      sent("does not respond"),
    ],
    ["a write that may be done, through an app", '{ state: "unknown" }', "{}", sent("does not respond")],
  ]),
  ...guards("src/fastify/transport.ts", TRANSPORT, [
    [
      "the end of a request whose client left",
      "if (received?.complete !== true) sent.destroy();",
      "",
      sent("is noticed by the platform"),
    ],
    ["nothing for a client that has left", "if (isAnswered || outgoing.destroyed) return;", "if (isAnswered) return;"],
    [
      "one response to a request through an app",
      "if (isAnswered || outgoing.destroyed) return;",
      "if (outgoing.destroyed) return;",
    ],
    ["time to read an early response", "        lingerIfUnfinished(incoming);\n", "", sent("refused early")],
    ["the rest of an early refused body", 'sent.once("close", () => payload.resume());', "", sent("refused early")],
    ["a body that breaks in the app", 'payload.once("error", (error) => sent.destroy(error));', ""],
    [
      "the body as hooks have left it",
      "body instanceof Readable ? body : incoming",
      "incoming",
      sent("that the app's hooks have left"),
    ],
    [
      "the body as the client sent it",
      "send(body instanceof Readable ? body : incoming, sent)",
      "send(body as Readable, sent)",
    ],
    ["chunks of any method", "if (isChunked) fields.push", "if (false) fields.push"],
    ["fields of one connection", "!OF_CONNECTION.has(name) && Object", "Object"],
    [
      "fields that the app's hooks have removed",
      "Object.hasOwn(wanted, name) && isUnchanged(name)",
      "true",
      sent("none that its client claims"),
    ],
    [
      "fields that the app's hooks have changed",
      " && isUnchanged(name)) fields.push",
      ") fields.push",
      registered("lets the app's hooks see requests"),
    ],
    ["no second token behind the first", 'if (FIRST_COUNTS.has(name)) return values[0] ?? "";', "", sent("two tokens")],
    ["fields of one connection, of a response", "    if (OF_CONNECTION.has(name)) return;\n", ""],
    [
      "each of a response's repeated fields",
      "before === undefined ? value : [before, value].flat()",
      "value",
      sent("keeps repeated fields"),
    ],
    ["a body of HTTP/2 without a length", "!incoming.stream.endAfterHeaders && ", "false && ", HTTP2],
    [
      "no short response over HTTP/2",
      "outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR);",
      "void constants;",
      HTTP2,
    ],
  ]),
];
