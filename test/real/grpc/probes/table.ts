/**
 * Requests of all sorts, right ones and wrong ones, and why the outcome of some is another than with native v1. `npm run real -- grpc` sends
 * them, and compares what comes back with `recorded.json`; `PROBES_RECORD=1` writes that file.
 */
import { encodings, frames } from "./frames.ts";
import { messages } from "./messages.ts";
import { access, deadlines, metadata } from "./metadata.ts";
import { media, paths } from "./paths.ts";
import type { Place, Unusual } from "./request.ts";

export interface Probe {
  /** Its name: how it differs from the usual call. */
  readonly what: string;
  readonly request: (place: Place) => Unusual;
  /** Statuses that take turns. */
  readonly either?: readonly string[];
}

export interface ProbeGroup {
  readonly title: string;
  readonly probes: readonly Probe[];
}

export const groups: readonly ProbeGroup[] = [
  { title: "Paths and methods", probes: paths },
  { title: "Media types and other fields of the protocol", probes: media },
  { title: "Frames", probes: frames },
  { title: "Compression", probes: encodings },
  { title: "Metadata", probes: metadata },
  { title: "Deadlines", probes: deadlines },
  { title: "Messages", probes: messages },
  { title: "Credentials, health, reflection", probes: access },
];

/** By row of docs/v1-behaviour.md: the probes whose outcome differs as it says. */
export const REASONS: ReadonlyMap<string, readonly string[]> = new Map([
  ["DIFF-15", ["a negative enum value"]],
  ["DIFF-52", ["a parent with a control byte", "a parent that climbs"]],
  ["DIFF-60", ["the same twice", "two that differ"]],
  ["DIFF-67", ["110 fields", "200 fields", "a value of 20 KiB", "a value of 100 KiB"]],
  ["DIFF-79", ["grpc-metadata-x-probe", "grpc-metadata-authorization"]],
  [
    "DIFF-82",
    [
      "a value of 8 KiB",
      "200 unknown groups within each other",
      "11,000 unknown groups within each other",
      "a string of 20,000 bytes",
      "an unknown field of 2 MiB",
      "25,000 unknown fields",
    ],
  ],
  [
    "DIFF-130",
    [
      ...["no slash in front", "an empty path", "an asterisk", "a backslash", "a space at the end", "a URL as path"],
      ...["te: gzip", "te: trailers, gzip", "no :scheme", "no :path", "no :method", "no :authority, and no host"],
      ...["two hosts", "an empty :authority", "trailers that do not end the request", "a pseudo field in trailers"],
      ...[
        "a content-length that is too long",
        "a content-length that is too short",
        "a content-length that is not a number",
      ],
      ...["keep-alive", "proxy-connection", "transfer-encoding", "upgrade"],
    ],
  ],
  [
    "DIFF-131",
    [
      ...["trailers at the end", "trailers without a message", "a name with a space", "a name with a colon"],
      ...["an empty name", "a name that is not ASCII", "a line feed in a value", "a carriage return in a value"],
      ...["a zero byte in a value", "a control byte in a value"],
    ],
  ],
  [
    "DIFF-132",
    [
      ...["Application/GRPC", "snappy, of a message that is not compressed", "-bin, with wrong padding"],
      ...["-bin, of the URL alphabet", "-bin, that is no base64", "-bin, a list in one field"],
      ...["a length of 2^32", "a varint of eleven bytes", "a tag of six bytes"],
    ],
  ],
  ["DIFF-133", ["two content-types", ":authority with credentials"]],
  [
    "DIFF-134",
    [
      ...[
        "nine digits",
        "negative",
        "with a sign",
        "a fraction",
        "no unit",
        "an unknown unit",
        "no number",
        "empty timeout",
      ],
      ...["with a space within", "two, the second malformed", "two timeouts in one field"],
    ],
  ],
  ["DIFF-135", ["via, with carryover in it"]],
  ["DIFF-136", ["a value of spaces", "spaces at the ends of a value", "with a space in front"]],
]);

/** The row of docs/v1-behaviour.md that explains the outcome of a probe. */
export function reasonOf(what: string): string | undefined {
  for (const [id, probes] of REASONS) if (probes.includes(what)) return id;
  return undefined;
}
