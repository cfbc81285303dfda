/**
 * Reads the requests of a HAR document while it comes in. Bodies of responses are the largest part of such a document, so each text is
 * cut at some length, and no more than one entry is held.
 */
import { isJsonObject, type JsonObject, member } from "../model/json.ts";
import { credentialInJson, credentialInTarget, type FoundCredential, isCredential } from "./credentials.ts";
import { type Found, isMethod, type LogPlace, skipped, targetOf } from "./found.ts";
import { timeOf } from "./json-log.ts";

const MAX_TEXT = 64 * 1024;
const MAX_ENTRY = 1024 ** 2;
const MAX_DEPTH = 100;
/** `{"log":{"entries":[` */
const ENTRIES_DEPTH = 3;

/** True for the beginning of a HAR document. */
export function looksLikeHar(text: string): boolean {
  return /^\uFEFF?\s*\{\s*"log"\s*:/.test(text);
}

interface HarEntry {
  readonly text: string;
  readonly at: LogPlace;
  readonly tooLong: boolean;
}

export async function* readHar(
  chunks: AsyncIterable<Uint8Array>,
  refuse: (found: FoundCredential, at: LogPlace) => never,
): AsyncGenerator<Found> {
  const scanner = new HarScanner();
  for await (const chunk of chunks) {
    for (const entry of scanner.take(chunk)) yield readEntry(entry, refuse);
    if (scanner.fault !== undefined) {
      yield skipped(scanner.fault, scanner.place.line, scanner.place.column);
      return;
    }
  }
  if (!scanner.isWhole) yield skipped("the document ends early", scanner.place.line, scanner.place.column);
}

/** Follows the structure of a JSON document byte by byte, and keeps the elements of `log.entries`. */
class HarScanner {
  fault: string | undefined;
  #line = 1;
  #column = 0;
  /** Closing brackets that are due. */
  readonly #open: number[] = [];
  /** The latest names of members, in the outermost two objects. */
  readonly #names: string[] = [];
  #inText = false;
  #escaped = false;
  #textLength = 0;
  /** The latest text, as far as a name may be it. */
  #latest = "";
  #ended = false;
  #entry: number[] | undefined;
  #entryAt: LogPlace = { line: 1, column: 1 };
  /** The text is longer than what is kept of it. */
  #cutting = false;

  get place(): LogPlace {
    return { line: this.#line, column: Math.max(1, this.#column) };
  }

  get isWhole(): boolean {
    return this.#ended;
  }

  *take(chunk: Uint8Array): Generator<HarEntry> {
    for (let at = 0; at < chunk.length; at++) {
      if (this.#inText && this.#cutting && !this.#escaped) {
        // Nothing is kept of the rest of a long text.
        const skipped = textEnd(chunk, at) - at;
        this.#column += skipped;
        at += skipped;
        if (at >= chunk.length) return;
      }
      const byte = chunk[at] as number;
      if (byte === 0x0a) {
        this.#line += 1;
        this.#column = 0;
      } else this.#column += 1;
      if (this.#inText) this.#text(byte);
      else {
        const entry = this.#structure(byte);
        if (entry !== undefined) yield entry;
        if (this.fault !== undefined) return;
      }
    }
  }

  #keep(byte: number): void {
    if (this.#entry !== undefined && this.#entry.length <= MAX_ENTRY) this.#entry.push(byte);
  }

  #text(byte: number): void {
    this.#textLength += 1;
    const ends = !this.#escaped && byte === 0x22;
    // Never within an escape: neither after its backslash nor in its hexadecimal digits.
    if (this.#textLength > MAX_TEXT && !this.#escaped && !isHexDigit(byte)) this.#cutting = true;
    if (ends || !this.#cutting) this.#keep(byte);
    if (this.#open.length < ENTRIES_DEPTH && !ends && this.#latest.length < 16)
      this.#latest += String.fromCharCode(byte);
    this.#escaped = !this.#escaped && byte === 0x5c;
    if (ends) this.#inText = false;
  }

  #structure(byte: number): HarEntry | undefined {
    const depth = this.#open.length;
    switch (byte) {
      case 0x22:
        this.#inText = true;
        this.#textLength = 0;
        this.#cutting = false;
        this.#latest = "";
        break;
      case 0x3a:
        if (depth < ENTRIES_DEPTH) this.#names[depth] = this.#latest;
        break;
      case 0x7b:
      case 0x5b:
        if (depth === ENTRIES_DEPTH && byte === 0x7b && this.#names[1] === "log" && this.#names[2] === "entries") {
          this.#entry = [];
          this.#entryAt = this.place;
        }
        this.#open.push(byte + 2);
        if (this.#open.length > MAX_DEPTH) this.fault = `this is nested more than ${MAX_DEPTH} deep`;
        break;
      case 0x7d:
      case 0x5d:
        if (this.#open.pop() !== byte) this.fault = "not valid JSON";
        if (this.#open.length === 0) this.#ended = true;
        break;
      default:
    }
    this.#keep(byte);
    if (this.#entry === undefined || this.#open.length > ENTRIES_DEPTH || byte !== 0x7d) return undefined;
    const bytes = this.#entry;
    this.#entry = undefined;
    const tooLong = bytes.length > MAX_ENTRY;
    return { text: tooLong ? "" : Buffer.from(bytes).toString("utf8"), at: this.#entryAt, tooLong };
  }
}

/** The next quotation mark or backslash from `start`, or the end of the chunk. */
function textEnd(chunk: Uint8Array, start: number): number {
  const quote = chunk.indexOf(0x22, start);
  const end = quote < 0 ? chunk.length : quote;
  const backslash = chunk.subarray(start, end).indexOf(0x5c);
  return backslash < 0 ? end : start + backslash;
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

function readEntry({ text, at, tooLong }: HarEntry, refuse: (found: FoundCredential, at: LogPlace) => never): Found {
  const { line, column } = at;
  if (tooLong) return skipped("this entry is longer than 1 MiB without its long texts", line, column);
  let entry: unknown;
  try {
    entry = JSON.parse(text);
  } catch {
    return skipped("not valid JSON", line, column);
  }
  const request = member(entry, "request");
  if (!isJsonObject(request)) return skipped("this entry has no request", line, column);
  const name = credentialOf(request) ?? credentialOf(member(entry, "response"));
  if (name !== undefined) refuse({ name, offset: 0 }, at);
  const method = String(request["method"] ?? "").toUpperCase();
  const target = targetOf(String(request["url"] ?? ""));
  if (!isMethod(method) || target === undefined) return skipped("no method or URL", line, column);
  const started = member(entry, "startedDateTime");
  const status = member(member(entry, "response"), "status");
  return {
    kind: "request",
    format: "HAR",
    at,
    request: {
      at: timeOf(typeof started === "string" ? started : undefined),
      method,
      target,
      client: fieldOf(request, "user-agent"),
      status: typeof status === "number" ? status : 0,
      mode: undefined,
      ...bodyOf(request),
    },
  };
}

/** No secret is in it: such a document is refused. */
function bodyOf(request: JsonObject): { readonly body?: string } {
  const text = member(request["postData"], "text");
  return typeof text === "string" && text !== "" ? { body: text } : {};
}

function listOf(message: JsonObject, name: string): readonly JsonObject[] {
  const list = message[name];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function fieldOf(request: JsonObject, wanted: string): string {
  const field = listOf(request, "headers").find(({ name }) => String(name).toLowerCase() === wanted);
  return typeof field?.["value"] === "string" ? field["value"] : "";
}

/** The name of the first field, cookie, parameter or member that holds a credential. */
function credentialOf(message: unknown): string | undefined {
  if (!isJsonObject(message)) return undefined;
  for (const { name, value } of [...listOf(message, "headers"), ...listOf(message, "queryString")])
    if (isCredential(String(name), String(value ?? ""), true)) return String(name);
  if (listOf(message, "cookies").some(({ value }) => isCredential("cookie", String(value ?? ""), true)))
    return "cookies";
  const url = message["url"];
  if (typeof url === "string" && credentialInTarget(url) !== undefined) return "url";
  const sent = member(message["postData"], "text");
  if (typeof sent !== "string") return undefined;
  try {
    return credentialInJson(JSON.parse(sent), sent)?.name;
  } catch {
    return credentialInTarget(`/?${sent}`) === undefined ? undefined : "postData";
  }
}
