/** Probes of messages in protobuf, written by hand. */
import { framed } from "../../../grpc/support/rpc.ts";
import { byId, bytesField, hex, type Place, varint, varintField } from "./request.ts";
import type { Probe } from "./table.ts";

const filter = (what: string, of: (place: Place) => Uint8Array): Probe => ({
  what,
  request: (place) => ({ message: of(place) }),
});

const joined = (...parts: readonly Uint8Array[]): Buffer => Buffer.concat(parts);

/** A group that is created below another. `fields`: those that its message has besides a name. */
const created = (what: string, fields: (place: Place) => Uint8Array, request: Uint8Array = Buffer.alloc(0)): Probe => ({
  what,
  request: (place) => ({
    path: `/${place.types}.iam.Groups/Create`,
    message: joined(bytesField(1, place.root), bytesField(2, joined(bytesField(2, "probe"), fields(place))), request),
  }),
});

const nested = (depth: number, number: number): Buffer => {
  let inner: Buffer = Buffer.alloc(0);
  for (let i = 0; i < depth; i++) inner = bytesField(number, inner);
  return inner;
};

const groupsOf = (depth: number): Buffer =>
  joined(
    Buffer.concat(Array.from({ length: depth }, () => varint(99 * 8 + 3))),
    Buffer.concat(Array.from({ length: depth }, () => varint(99 * 8 + 4))),
  );

const entry = (key: string, value: number): Buffer => bytesField(4, joined(bytesField(1, key), varintField(2, value)));

const identity = (what: string, fields: Uint8Array): Probe => ({
  what,
  request: (place) => ({
    path: `/${place.types}.iam.Identities/Create`,
    message: joined(bytesField(1, place.root), bytesField(2, joined(bytesField(2, "probe"), fields))),
  }),
});

const CLAIM_MATCH = bytesField(10, joined(bytesField(1, "https://issuer.test"), bytesField(3, "subject")));

export const messages: readonly Probe[] = [
  filter("an unknown field of each wire type", ({ root }) =>
    joined(
      byId(root),
      varintField(90, 1),
      Buffer.from("d905", "hex"),
      Buffer.alloc(8),
      bytesField(92, "x"),
      Buffer.from("ed05", "hex"),
      Buffer.alloc(4),
    ),
  ),
  filter("an unknown group", ({ root }) =>
    joined(byId(root), varint(99 * 8 + 3), varintField(1, 1), varint(99 * 8 + 4)),
  ),
  filter("a group that does not end", ({ root }) => joined(byId(root), varint(99 * 8 + 3), varintField(1, 1))),
  filter("a group that has not begun", ({ root }) => joined(byId(root), varint(99 * 8 + 4))),
  filter("groups that end crosswise", ({ root }) =>
    joined(byId(root), ...[99 * 8 + 3, 98 * 8 + 3, 99 * 8 + 4, 98 * 8 + 4].map(varint)),
  ),
  filter("90 unknown groups within each other", ({ root }) => joined(byId(root), groupsOf(90))),
  filter("200 unknown groups within each other", ({ root }) => joined(byId(root), groupsOf(200))),
  filter("11,000 unknown groups within each other", ({ root }) => joined(byId(root), groupsOf(11_000))),
  filter("an unknown field of 200 levels", ({ root }) => joined(byId(root), nested(200, 90))),
  filter("a known field of another wire type", ({ root }) => joined(byId(root), varintField(3, 1))),
  filter("a message as varint", ({ root }) => joined(byId(root), varintField(2, 1))),
  filter("wire type 6", ({ root }) => joined(byId(root), Buffer.from([3 * 8 + 6, 0]))),
  filter("wire type 7", ({ root }) => joined(byId(root), Buffer.from([3 * 8 + 7, 0]))),
  filter("field number 0", ({ root }) => joined(byId(root), Buffer.from([0x02, 0x00]))),
  filter("field number 2^29", ({ root }) => joined(byId(root), varint(2 ** 29 * 8), varint(1))),
  filter("a tag that is cut off", ({ root }) => joined(byId(root), Buffer.from([0x9a]))),
  filter("a length that is cut off", ({ root }) => joined(byId(root), Buffer.from([0x1a, 0x80]))),
  filter("a length beyond the message", ({ root }) => joined(byId(root), Buffer.from([0x1a, 0x7f, 0x61]))),
  filter("a length of 2^32", ({ root }) => joined(byId(root), Buffer.from([0x1a]), varint(2 ** 32))),
  filter("an overlong varint as length", ({ root }) =>
    joined(Buffer.from([0x0a]), overlong(root.length), Buffer.from(root)),
  ),
  filter("a varint of eleven bytes", ({ root }) =>
    joined(byId(root), varint(90 * 8), Buffer.from("ffffffffffffffffffff01", "hex")),
  ),
  filter("a tag of six bytes", ({ root }) => joined(byId(root), Buffer.from("d0858080800001", "hex"))),
  filter("a string that is not UTF-8", () => bytesField(3, Buffer.from([0xff]))),
  filter("a string with half a surrogate", () => bytesField(3, Buffer.from("eda080", "hex"))),
  filter("a string with a zero byte", () => bytesField(3, "a\0b")),
  filter("an unknown string that is not UTF-8", ({ root }) => joined(byId(root), bytesField(90, Buffer.from([0xff])))),
  filter("a byte order mark in front of a string", () => bytesField(3, "\ufeffprobe")),
  filter("a uid twice: the last counts", ({ root }) => joined(byId("nobody"), byId(root))),
  filter("a message twice: they are joined", ({ root }) =>
    joined(byId(root), bytesField(2, bytesField(1, root)), bytesField(2, varintField(2, 0))),
  ),
  filter("an empty message in a field", ({ root }) => joined(byId(root), bytesField(2, ""))),
  filter("a uid with a slash at its end", ({ root }) => byId(`${root}/`)),
  filter("a uid of another kind", () => byId("../x")),
  filter("a string of 9,000 bytes", () => bytesField(3, "x".repeat(9_000))),
  filter("a string of 20,000 bytes", () => bytesField(3, "x".repeat(20_000))),
  filter("an unknown field of 2 MiB", ({ root }) => joined(byId(root), bytesField(90, Buffer.alloc(2 * 1024 ** 2)))),
  filter("25,000 unknown fields", ({ root }) =>
    joined(byId(root), Buffer.concat(Array.from({ length: 25_000 }, () => varintField(90, 1)))),
  ),
  created("a group", () => Buffer.alloc(0)),
  created("a description twice: the last counts", () => joined(bytesField(3, "a"), bytesField(3, "b"))),
  created("fields in reverse", () => joined(bytesField(3, "a"), bytesField(2, "probe"))),
  created("the group twice: they are joined", () => Buffer.alloc(0), bytesField(2, bytesField(3, "joined"))),
  created("a bool of 2", () => varintField(5, 2)),
  created("an enum value that no version has", () => varintField(6, 99)),
  created("a negative enum value", () => varintField(6, -1)),
  created("an enum value above 32 bits", () => varintField(6, 2 ** 32 + 1)),
  created("a map with the same key twice", () => joined(entry("a", 1), entry("a", 2))),
  created("a map's entry without a key", () => bytesField(4, varintField(2, 1))),
  created("a map's entry without a value", () => bytesField(4, bytesField(1, "a"))),
  created("an unknown field in a map's entry", () =>
    bytesField(4, joined(bytesField(1, "a"), varintField(2, 1), varintField(9, 1))),
  ),
  created("a field that the server sets", () => varintField(7, 1)),
  created("no parent", () => Buffer.alloc(0), bytesField(1, "")),
  created("a parent with a control byte", () => Buffer.alloc(0), bytesField(1, "a\u0001")),
  created("a parent that climbs", ({ root }) => bytesField(3, root), bytesField(1, "../../x")),
  identity("a oneof", CLAIM_MATCH),
  identity("a oneof twice, of two kinds: the last counts", joined(varintField(12, 1), CLAIM_MATCH)),
  identity(
    "a oneof twice, of one kind: they are joined",
    joined(bytesField(10, bytesField(1, "https://issuer.test")), bytesField(10, bytesField(3, "subject"))),
  ),
  {
    what: "capabilities of a role, as a packed list of numbers",
    request: (place) => ({
      path: `/${place.types}.iam.Roles/Create`,
      message: joined(
        bytesField(1, place.root),
        bytesField(2, joined(bytesField(2, "probe"), bytesField(4, Buffer.from([0xff])))),
      ),
    }),
  },
  {
    what: "a JSON message in application/grpc+json",
    request: ({ root }) => ({
      without: ["content-type"],
      plus: [["content-type", "application/grpc+json"]],
      steps: [{ data: hex(framed(Buffer.from(JSON.stringify({ id: root })))), end: true }],
    }),
  },
];

function overlong(value: number): Buffer {
  return Buffer.from([(value & 127) | 128, 128 | (value >> 7), 128, 0]);
}
