/** Probes of metadata, deadlines and credentials, and of gRPC's own services. */
import { bytesField, type Field, type Unusual } from "./request.ts";
import type { Probe } from "./table.ts";

const plus = (what: string, ...fields: readonly Field[]): Probe => ({ what, request: () => ({ plus: fields }) });

const many = (count: number, of: (index: number) => Field): readonly Field[] =>
  Array.from({ length: count }, (_, at) => of(at));

export const metadata: readonly Probe[] = [
  plus("a field", ["x-probe", "a"]),
  plus("a name in capitals", ["X-Probe", "a"]),
  plus("a name with a space", ["x probe", "a"]),
  plus("a name with a colon", ["x:probe", "a"]),
  plus("a name with _ and .", ["x-probe_a.b", "a"]),
  plus("an empty name", ["", "a"]),
  plus("a name that is not ASCII", ["x-prob\u00e9", "a"]),
  plus("an empty value", ["x-probe", ""]),
  plus("a value of spaces", ["x-probe", "  "]),
  plus("spaces at the ends of a value", ["x-probe", " a "]),
  plus("a tab within a value", ["x-probe", "a\tb"]),
  plus("a value that is not ASCII", ["x-probe", "\u00c3\u00bc"]),
  plus("a line feed in a value", ["x-probe", "a\nb"]),
  plus("a carriage return in a value", ["x-probe", "a\rb"]),
  plus("a zero byte in a value", ["x-probe", "a\0b"]),
  plus("a control byte in a value", ["x-probe", "a\u0001b"]),
  plus("the same name twice", ["x-probe", "a"], ["x-probe", "b"]),
  plus("a value with a comma", ["x-probe", "a, b"]),
  plus("-bin, with padding", ["x-probe-bin", "AAE="]),
  plus("-bin, without padding", ["x-probe-bin", "AAE"]),
  plus("-bin, with wrong padding", ["x-probe-bin", "AAE=="]),
  plus("-bin, of the URL alphabet", ["x-probe-bin", "-_8"]),
  plus("-bin, that is no base64", ["x-probe-bin", "!!"]),
  plus("-bin, a list in one field", ["x-probe-bin", "AAE,AgM"]),
  plus("-bin, twice", ["x-probe-bin", "AAE"], ["x-probe-bin", "AgM"]),
  plus("-bin, empty", ["x-probe-bin", ""]),
  plus("a reserved name (grpc-probe)", ["grpc-probe", "a"]),
  plus("grpc-status in a request", ["grpc-status", "5"]),
  plus("grpc-message in a request", ["grpc-message", "a"]),
  plus("grpc-message-type", ["grpc-message-type", "a.B"]),
  plus("grpc-previous-rpc-attempts", ["grpc-previous-rpc-attempts", "2"]),
  plus("grpc-tags-bin and grpc-trace-bin", ["grpc-tags-bin", "AAE"], ["grpc-trace-bin", "AAE"]),
  plus("grpc-metadata-x-probe", ["grpc-metadata-x-probe", "a"]),
  plus("grpc-metadata-authorization", ["grpc-metadata-authorization", "Bearer a"]),
  plus("50 fields", ...many(50, (at) => [`x-probe-${at}`, "a"])),
  plus("92 fields and the usual ones", ...many(92, (at) => [`x-probe-${at}`, "a"])),
  plus("110 fields", ...many(110, (at) => [`x-probe-${at}`, "a"])),
  plus("200 fields", ...many(200, (at) => [`x-probe-${at}`, "a"])),
  plus("a value of 8 KiB", ["x-probe", "a".repeat(8 * 1024)]),
  plus("a value of 20 KiB", ["x-probe", "a".repeat(20 * 1024)]),
  plus("a value of 100 KiB", ["x-probe", "a".repeat(100 * 1024)]),
  plus("a cookie", ["cookie", "a=b"]),
  plus("a cookie in crumbs", ["cookie", "a=b"], ["cookie", "c=d"]),
  plus("connection", ["connection", "close"]),
  plus("keep-alive", ["keep-alive", "5"]),
  plus("proxy-connection", ["proxy-connection", "keep-alive"]),
  plus("transfer-encoding", ["transfer-encoding", "chunked"]),
  plus("upgrade", ["upgrade", "websocket"]),
  plus("http2-settings", ["http2-settings", "AAMAAABkAAQAAP__"]),
  plus("x-forwarded-for", ["x-forwarded-for", "10.0.0.1"]),
  plus("x_forwarded_for", ["x_forwarded_for", "10.0.0.1"]),
  plus("forwarded", ["forwarded", "for=10.0.0.1"]),
  plus("expect: 100-continue", ["expect", "100-continue"]),
  plus("an odd x-request-id", ["x-request-id", "a b"]),
  plus("two dates", ["date", "Sat, 28 Nov 2026 01:00:00 GMT"], ["date", "Sat, 28 Nov 2026 02:00:00 GMT"]),
  plus("x-http-method-override", ["x-http-method-override", "DELETE"]),
  plus("via, with carryover in it", ["via", "1.1 carryover"]),
];

const timeout = (what: string, ...values: readonly string[]): Probe => ({
  what,
  request: () => ({ plus: values.map((value) => ["grpc-timeout", value]) }),
});

/** A server in Go may reset the call before its handler has said that the time is over. */
const BOTH_LATE = ["DEADLINE_EXCEEDED", "reset CANCEL"];

/** The platform never responds. */
const hangs = (what: string, value: string): Probe => ({
  what,
  either: BOTH_LATE,
  request: () => ({
    plus: [
      ["x-probe-hang", "1"],
      ["grpc-timeout", value],
    ],
  }),
});

export const deadlines: readonly Probe[] = [
  timeout("one hour", "1H"),
  timeout("ten minutes", "10M"),
  timeout("30 seconds", "30S"),
  timeout("30,000 milliseconds", "30000m"),
  timeout("30,000,000 microseconds", "30000000u"),
  timeout("99,999,999 hours", "99999999H"),
  timeout("leading zeros", "00000030S"),
  timeout("nine digits", "100000000m"),
  timeout("zero", "0S"),
  timeout("one nanosecond", "1n"),
  timeout("negative", "-1S"),
  timeout("with a sign", "+1S"),
  timeout("a fraction", "1.5S"),
  timeout("no unit", "30"),
  timeout("an unknown unit", "30s"),
  timeout("no number", "S"),
  timeout("empty timeout", ""),
  timeout("with a space within", "30 S"),
  timeout("with a space in front", " 30S"),
  timeout("twice the same", "30S", "30S"),
  timeout("two, the second malformed", "30S", "x"),
  timeout("two timeouts in one field", "30S, 30S"),
  hangs("over while the platform hangs, in milliseconds", "300m"),
  hangs("over while the platform hangs, in microseconds", "300000u"),
  hangs("over while the platform hangs, in nanoseconds", "99999999n"),
  {
    what: "over before the message has come",
    either: BOTH_LATE,
    request: () => ({ plus: [["grpc-timeout", "200m"]], steps: [] }),
  },
  {
    what: "over, and nothing ends the message",
    either: BOTH_LATE,
    request: () => ({ plus: [["grpc-timeout", "200m"]], steps: [{ data: "000000002a0a" }] }),
  },
];

const credentials = (what: string, ...values: readonly ((token: string) => string)[]): Probe => ({
  what,
  request: ({ token }) => ({
    without: ["authorization"],
    plus: values.map((value) => ["authorization", value(token)]),
  }),
});

const service = (what: string, path: string, message: Uint8Array, unusual: Unusual = {}): Probe => ({
  what,
  request: () => ({ path, message, ...unusual }),
});

const LIST_SERVICES = bytesField(7, "");

export const access: readonly Probe[] = [
  credentials("no authorization"),
  credentials("an empty authorization", () => ""),
  credentials("a scheme alone", () => "Bearer"),
  credentials("a scheme in lower case", (token) => `bearer ${token}`),
  credentials("a token without a scheme", (token) => token),
  credentials("a token of no one", () => "Bearer x.y.z"),
  credentials("another scheme", () => "Basic YTpi"),
  credentials("two spaces", (token) => `Bearer  ${token}`),
  credentials(
    "the same twice",
    (token) => `Bearer ${token}`,
    (token) => `Bearer ${token}`,
  ),
  credentials(
    "two that differ",
    (token) => `Bearer ${token}`,
    () => "Bearer x.y.z",
  ),
  credentials("two credentials in one field", (token) => `Bearer ${token}, Bearer x.y.z`),
  credentials("not ASCII", () => "Bearer \u00fc"),
  service("Health/Check", "/grpc.health.v1.Health/Check", Buffer.alloc(0)),
  service("Health/Check without credentials", "/grpc.health.v1.Health/Check", Buffer.alloc(0), {
    without: ["authorization"],
  }),
  service("Health/Check of an unknown service", "/grpc.health.v1.Health/Check", bytesField(1, "nobody")),
  service("Health/Check of a message that cannot be read", "/grpc.health.v1.Health/Check", Buffer.from("0aff", "hex")),
  service("reflection v1", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", LIST_SERVICES),
  service("reflection v1alpha", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", LIST_SERVICES),
  service("reflection without a message", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", LIST_SERVICES, {
    steps: [],
    end: true,
  }),
  service("channelz", "/grpc.channelz.v1.Channelz/GetTopChannels", Buffer.alloc(0)),
];
