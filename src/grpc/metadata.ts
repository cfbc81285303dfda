/** Metadata of translated calls as fields of HTTP, by the convention of grpc-gateway: `Grpc-Metadata-NAME`. */

import { handlingOfMetadata } from "../edge/headers.ts";
import { type HeaderField, type HeaderList, HOP_BY_HOP, METADATA_PREFIX } from "../model/http.ts";

/** Metadata that HTTP knows by the same name: the platform's gateway reads the field itself. */
const FIELDS: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "b3",
  "baggage",
  "te",
  "traceparent",
  "tracestate",
  "user-agent",
  "via",
  "x-request-id",
]);
/** Fields that speak of a JSON body, or of another connection. */
const OF_JSON: ReadonlySet<string> = new Set([...HOP_BY_HOP, "cache-control", "retry-after", "vary", "via"]);

function isMetadata(name: string): boolean {
  return !FIELDS.has(name) && !name.startsWith("x-b3-") && handlingOfMetadata(name) === "keep";
}

/**
 * The client's metadata as the platform's gateway reads it, for a call that becomes an HTTP request. Values of names with `-bin` at the end
 * stay in base64, one field each.
 */
export function metadataFields(metadata: HeaderList): HeaderField[] {
  const fields: HeaderField[] = [];
  for (const [name, value] of metadata) {
    if (!isMetadata(name)) continue;
    // A list of binary values may come in one field (gRPC over HTTP/2, "Custom-Metadata").
    const values = name.endsWith("-bin") ? value.split(",") : [value];
    for (const one of values) fields.push([METADATA_PREFIX + name, one.trim()]);
  }
  return fields;
}

/** The metadata of an HTTP response. Leaves out fields that describe its body, and gives metadata that the gateway prefixed its own name. */
export function metadataOf(headers: HeaderList): HeaderField[] {
  const fields: HeaderField[] = [];
  const metadata: HeaderField[] = [];
  for (const field of headers) {
    const [name, value] = field;
    if (name.startsWith(METADATA_PREFIX)) {
      const inner = name.slice(METADATA_PREFIX.length);
      // The gateway writes the bytes of a binary value as they are.
      if (isMetadata(inner)) metadata.push([inner, inner.endsWith("-bin") ? base64(value) : value]);
    } else if (!OF_JSON.has(name) && !name.startsWith("content-") && !name.startsWith("grpc-")) fields.push(field);
  }
  if (metadata.length === 0) return fields;
  const known = new Set(fields.map(([name]) => name));
  return [...fields, ...metadata.filter(([name]) => !known.has(name) && !OF_JSON.has(name))];
}

function base64(value: string): string {
  return Buffer.from(value, "latin1").toString("base64");
}
