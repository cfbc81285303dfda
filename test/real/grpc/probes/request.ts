/** One request of HTTP/2, as the program `probe` sends it: any fields, any frames. */
import { framed } from "../../../grpc/support/rpc.ts";

/** A name and a value; one byte for each character. */
export type Field = readonly [name: string, value: string];

/** A frame, after `waitMs`. */
export interface Step {
  /** Hexadecimal. */
  readonly data?: string;
  /** Bytes of padding. */
  readonly pad?: number;
  readonly trailers?: readonly Field[];
  readonly reset?: number;
  readonly end?: boolean;
  readonly waitMs?: number;
}

export interface ProbeRequest {
  readonly fields: readonly Field[];
  /** The head ends the request. */
  readonly end?: boolean;
  readonly steps: readonly Step[];
  readonly timeoutMs: number;
}

/** The part of the platform that a probe names. */
export interface Place {
  readonly token: string;
  /** The uid of a group. */
  readonly root: string;
  /** The package that all services share. */
  readonly types: string;
}

/** How a request differs from the usual one. */
export interface Unusual {
  readonly path?: string;
  readonly method?: string;
  /** Names of fields that are left out. */
  readonly without?: readonly string[];
  /** Fields at the end. */
  readonly plus?: readonly Field[];
  /** All of them, in place of the usual ones. */
  readonly fields?: (usual: readonly Field[]) => readonly Field[];
  /** The only message. */
  readonly message?: Uint8Array;
  readonly steps?: readonly Step[];
  readonly end?: boolean;
  readonly timeoutMs?: number;
}

/** Longer than any response takes. */
const TIMEOUT_MS = 4_000;

/** A list of one group, by its uid, or what `unusual` makes of that. */
export function requestOf(place: Place, unusual: Unusual): ProbeRequest {
  const { path = `/${place.types}.iam.Groups/List`, method = "POST", without = [], plus = [] } = unusual;
  const usual: readonly Field[] = [
    [":method", method],
    [":scheme", "http"],
    [":path", path],
    [":authority", "platform.test"],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
    ["authorization", `Bearer ${place.token}`],
  ];
  const fields = [...usual.filter(([name]) => !without.includes(name)), ...plus];
  const message = unusual.message ?? byId(place.root);
  return {
    fields: unusual.fields?.(usual) ?? fields,
    ...(unusual.end === undefined ? {} : { end: unusual.end }),
    steps: unusual.steps ?? [{ data: hex(framed(message)), end: true }],
    timeoutMs: unusual.timeoutMs ?? TIMEOUT_MS,
  };
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** Field `number` of a message, written by hand. */
export function bytesField(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

export function varintField(number: number, value: number): Buffer {
  return Buffer.concat([varint(number * 8), varint(value)]);
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

/** The filter that names one group. */
export function byId(uid: string): Buffer {
  return bytesField(1, uid);
}
