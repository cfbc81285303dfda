import {
  type HeaderField,
  type HeaderList,
  HOP_BY_HOP,
  namedByConnection,
  readField,
  withoutHeaders,
  withValue,
} from "../model/http.ts";
import type { Pool } from "./pool.ts";

type UpstreamAddress = Pick<Pool, "origin" | "basePath">;

/** Fields that undici writes itself. */
const WRITTEN_BY_UNDICI: ReadonlySet<string> = new Set([...HOP_BY_HOP, "host", "content-length", "accept-encoding"]);

/**
 * A response's fields as undici's parser returns them, without those of the connection. A `Location` that points into the upstream is a path
 * of its own base: clients never see the upstream's address. `spelled`: names keep their spelling.
 */
export function responseFields(
  raw: readonly (Buffer | string)[],
  upstream: UpstreamAddress,
  spelled: boolean,
): HeaderField[] {
  const parts = decodeParts(raw);
  const fields: HeaderField[] = [];
  let connection: string[] | undefined;
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const field = readField(parts[i] ?? "", parts[i + 1] ?? "", spelled);
    const [name, value] = field;
    if (HOP_BY_HOP.has(name)) {
      if (name === "connection") connection = [...(connection ?? []), value];
    } else if (name === "location") fields.push(withValue(field, withoutOrigin(value, upstream)));
    else fields.push(field);
  }
  if (connection === undefined) return fields;
  const named = namedByConnection(connection);
  return named.size === 0 ? fields : withoutHeaders(fields, named);
}

/** A call's fields for undici; what belongs to the connection or is written by undici is left out. */
export function callHeaders(headers: HeaderList): string[] {
  const flat: string[] = ["accept-encoding", "identity"];
  for (const [name, value] of headers) if (!WRITTEN_BY_UNDICI.has(name)) flat.push(name, value);
  return flat;
}

/** Any other place than one inside the upstream is left as it is. */
export function withoutOrigin(location: string, { origin, basePath }: UpstreamAddress): string {
  let place = location;
  if (startsAt(place, origin)) place = place.slice(origin.length).replace(/^(?!\/)/, "/");
  if (place.startsWith("/") && startsAt(place, basePath)) place = place.slice(basePath.length).replace(/^(?!\/)/, "/");
  return place;
}

/** True when `prefix` ends where a part of `value` ends: `http://a` does not begin `http://a.example`. */
function startsAt(value: string, prefix: string): boolean {
  return value.startsWith(prefix) && (value.length === prefix.length || "/?#".includes(value.charAt(prefix.length)));
}

/** Parts that lie in one piece of memory, as they mostly do, are decoded together and cut: that is three times as quick. */
function decodeParts(parts: readonly (Buffer | string)[]): string[] {
  const first = parts[0];
  const last = parts.at(-1);
  if (!(first instanceof Uint8Array && last instanceof Uint8Array && last.buffer === first.buffer))
    return parts.map(decodePart);
  const start = first.byteOffset;
  const size = last.byteOffset + last.length - start;
  if (size < 0 || size > MOST_TOGETHER) return parts.map(decodePart);
  const all = Buffer.from(first.buffer, start, size).toString("latin1");
  const cut: string[] = [];
  for (const part of parts) {
    if (typeof part === "string" || part.buffer !== first.buffer) return parts.map(decodePart);
    const at = part.byteOffset - start;
    if (at < 0 || at + part.length > size) return parts.map(decodePart);
    cut.push(all.slice(at, at + part.length));
  }
  return cut;
}

/** Heads are shorter; parts further apart do not come from one head. */
const MOST_TOGETHER = 64 * 1024;

function decodePart(part: Buffer | string): string {
  return typeof part === "string" ? part : part.toString("latin1");
}
