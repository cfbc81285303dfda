import { type HeaderField, type HeaderList, HOP_BY_HOP, namedByConnection, withoutHeaders } from "../model/http.ts";
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
  const text = new HeadText(raw);
  const fields: HeaderField[] = [];
  let connection: string[] | undefined;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const spelling = text.of(raw[i]);
    const name = spelling.toLowerCase();
    if (HOP_BY_HOP.has(name)) {
      if (name === "connection") connection = [...(connection ?? []), text.of(raw[i + 1])];
      continue;
    }
    const value = text.of(raw[i + 1]);
    const shown = name === "location" ? withoutOrigin(value, upstream) : value;
    fields.push(spelled && name !== spelling ? [name, shown, spelling] : [name, shown]);
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

/** Heads are shorter; parts further apart do not come from one head. */
const MOST_TOGETHER = 64 * 1024;

/** Parts that lie in one piece of memory, as they mostly do, are decoded together and cut: that is three times as quick. */
class HeadText {
  readonly #memory: ArrayBufferLike | undefined;
  readonly #start: number = 0;
  readonly #text: string = "";

  constructor(parts: readonly (Buffer | string)[]) {
    const [first] = parts;
    const last = parts.at(-1);
    if (!(first instanceof Uint8Array && last instanceof Uint8Array && last.buffer === first.buffer)) return;
    const size = last.byteOffset + last.length - first.byteOffset;
    if (size < 0 || size > MOST_TOGETHER) return;
    this.#memory = first.buffer;
    this.#start = first.byteOffset;
    this.#text = Buffer.from(first.buffer, first.byteOffset, size).toString("latin1");
  }

  of(part: Buffer | string | undefined): string {
    if (typeof part !== "object") return part ?? "";
    const at = part.byteOffset - this.#start;
    const isInside = part.buffer === this.#memory && at >= 0 && at + part.length <= this.#text.length;
    return isInside ? this.#text.slice(at, at + part.length) : part.toString("latin1");
  }
}
