/** A strict RFC 9112 parser for the requests in a stream of bytes. */

export interface Read {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** In the order of the wire, names in lower case. */
  readonly fields: readonly (readonly [string, string])[];
  /** Without the chunks' own bytes, latin1. */
  readonly body: string;
}

export interface Stream {
  readonly requests: readonly Read[];
  /** Where the last whole request ends. */
  readonly end: number;
  /** Why there is no telling what comes after the last request; undefined when that is nothing, or not all there yet. */
  readonly odd: string | undefined;
}

type Framed = { readonly body: string; readonly end: number } | "more" | { readonly odd: string };

const LINE = /^([A-Za-z]+) ([\x21-\xff]+) HTTP\/(1\.[01])$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/;

/** Reads `bytes` (latin1) from `start`. */
export function readStream(bytes: string, start = 0): Stream {
  const requests: Read[] = [];
  let end = start;
  for (;;) {
    const stop = bytes.indexOf("\r\n\r\n", end);
    if (stop < 0) return { requests, end, odd: undefined };
    const head = readHead(bytes.slice(end, stop));
    if (typeof head === "string") return { requests, end, odd: head };
    const framed = frame(head.fields, bytes, stop + 4);
    if (framed === "more") return { requests, end, odd: undefined };
    if ("odd" in framed) return { requests, end, odd: framed.odd };
    requests.push({ ...head, body: framed.body });
    end = framed.end;
  }
}

/** All values of a field. */
export function valuesOf({ fields }: Pick<Read, "fields">, name: string): string[] {
  return fields.filter(([one]) => one === name).map(([, value]) => value);
}

function readHead(text: string): Omit<Read, "body"> | string {
  const [first = "", ...lines] = text.split("\r\n");
  const [, method, target, version] = LINE.exec(first) ?? [];
  if (method === undefined || target === undefined || version === undefined)
    return `request line ${first.slice(0, 80)}`;
  const fields: [string, string][] = [];
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? [];
    // A bare CR or LF or a NUL within a value is what readers differ about.
    if (name === undefined || value === undefined || /[\0\r\n]/.test(value)) return `field ${line.slice(0, 80)}`;
    fields.push([name.toLowerCase(), value]);
  }
  return { method, target, version, fields };
}

function frame(fields: Read["fields"], bytes: string, from: number): Framed {
  const lengths = valuesOf({ fields }, "content-length");
  const codings = valuesOf({ fields }, "transfer-encoding");
  if (lengths.length + codings.length > 1) return { odd: "more than one framing" };
  const [length] = lengths;
  const [coding] = codings;
  if (coding !== undefined)
    return coding.toLowerCase() === "chunked" ? chunks(bytes, from) : { odd: `coding ${coding}` };
  if (length === undefined) return { body: "", end: from };
  if (!/^\d{1,15}$/.test(length)) return { odd: `length ${length}` };
  const end = from + Number(length);
  return bytes.length < end ? "more" : { body: bytes.slice(from, end), end };
}

function chunks(bytes: string, from: number): Framed {
  let body = "";
  let at = from;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return "more";
    const line = bytes.slice(at, lineEnd);
    if (!/^[0-9A-Fa-f]{1,12}[ \t]*(?:;[\t\x20-\xff]*)?$/.test(line)) return { odd: `chunk size ${line.slice(0, 40)}` };
    const size = Number.parseInt(line, 16);
    const next = lineEnd + 2 + size;
    if (size === 0) return trailers(bytes, lineEnd + 2, body);
    if (bytes.length < next + 2) return "more";
    if (bytes.slice(next, next + 2) !== "\r\n") return { odd: "no line end behind a chunk" };
    body += bytes.slice(lineEnd + 2, next);
    at = next + 2;
  }
}

function trailers(bytes: string, from: number, body: string): Framed {
  let at = from;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return "more";
    if (lineEnd === at) return { body, end: at + 2 };
    if (!FIELD.test(bytes.slice(at, lineEnd))) return { odd: "trailer" };
    at = lineEnd + 2;
  }
}
