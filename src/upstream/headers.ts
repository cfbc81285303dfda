/** Which header fields of an answer go beyond this hop, and which of a call may be sent? */
import { type HeaderList, HOP_BY_HOP, namedByConnection } from "../model/http.ts";

/** Fields that undici writes itself. */
const WRITTEN_BY_UNDICI: ReadonlySet<string> = new Set([...HOP_BY_HOP, "host", "content-length", "accept-encoding"]);

/** An answer's fields as they came, flat: name, value, name, value; without those of the connection. */
export function endToEnd(raw: readonly (Buffer | string)[]): string[] {
  const flat = decodeParts(raw);
  const kept: string[] = [];
  let connection: string[] | undefined;
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i] ?? "";
    const value = flat[i + 1] ?? "";
    const lower = name.toLowerCase();
    if (lower === "connection") connection = [...(connection ?? []), value];
    if (!HOP_BY_HOP.has(lower)) kept.push(name, value);
  }
  return connection === undefined ? kept : withoutNamed(kept, namedByConnection(connection));
}

/** A call's fields for undici, flat; what belongs to the connection or is written by undici is left out. */
export function sendable(headers: HeaderList): string[] {
  const flat: string[] = ["accept-encoding", "identity"];
  for (const [name, value] of headers) if (!WRITTEN_BY_UNDICI.has(name)) flat.push(name, value);
  return flat;
}

/** The first value of `name` (lower case) in a flat list. */
export function flatHeader(flat: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < flat.length; i += 2) if (flat[i]?.toLowerCase() === name) return flat[i + 1];
  return undefined;
}

/**
 * A `Location` that points into the upstream, as a path of its own base: clients never see the upstream's address.
 * Any other place, and any other field, is left as it is. Changes `flat`.
 */
export function hideOrigin(flat: string[], origin: string, basePath: string): string[] {
  for (let i = 0; i + 1 < flat.length; i += 2) {
    if (flat[i]?.length !== 8 || flat[i]?.toLowerCase() !== "location") continue;
    let place = flat[i + 1] ?? "";
    if (startsAt(place, origin)) place = place.slice(origin.length).replace(/^(?!\/)/, "/");
    if (place.startsWith("/") && startsAt(place, basePath))
      place = place.slice(basePath.length).replace(/^(?!\/)/, "/");
    flat[i + 1] = place;
  }
  return flat;
}

/** True when `prefix` ends where a part of `value` ends: `http://a` does not begin `http://a.example`. */
function startsAt(value: string, prefix: string): boolean {
  return value.startsWith(prefix) && (value.length === prefix.length || "/?#".includes(value.charAt(prefix.length)));
}

function withoutNamed(flat: string[], named: ReadonlySet<string>): string[] {
  if (named.size === 0) return flat;
  return flat.filter((_, i) => !named.has((flat[i & ~1] ?? "").toLowerCase()));
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
