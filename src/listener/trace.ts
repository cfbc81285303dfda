/** Under which names is a request known to others: its id, and its place in a trace? */
import { createHash } from "node:crypto";
import { type Head, single } from "./head.ts";

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The client's own request id when it is one, of at most 128 visible characters. */
export function givenRequestId(head: Head): string | undefined {
  const id = single(head, "x-request-id");
  return id !== undefined && isRequestId(id) ? id : undefined;
}

/** True for at most 128 visible characters. */
export function isRequestId(id: string): boolean {
  return REQUEST_ID.test(id);
}

/** True when the client is part of a trace (W3C Trace Context section 3.2). */
export function hasTrace(head: Head): boolean {
  const parent = single(head, "traceparent");
  return parent !== undefined && TRACEPARENT.test(parent);
}

/** A `traceparent` that begins a trace, not sampled; `id`: fresh and random (a UUID is used as it is). */
export function newTrace(id: string): string {
  const trace = hex(id);
  // One span in a fresh trace: any part of the trace's own random digits tells it apart.
  return `00-${trace}-${trace.slice(16)}-00`;
}

function hex(id: string): string {
  if (UUID.test(id)) return id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
  return createHash("sha256").update(id).digest("hex").slice(0, 32);
}
