/** Checks that native v1 responds as the call expects. */

import type { ApiResponse } from "../../../src/model/http.ts";
import { isJsonObject, type Json, member } from "../../../src/model/json.ts";
import type { Call, Expectation, Seen } from "./call.ts";
import { namedFields } from "./compare.ts";
import { given, parsed } from "./harness.ts";

/** Where native v1 does not do what the call was written to show. */
export function disappointments(call: Call, answer: ApiResponse, seen: Seen): string[] {
  const { status, code, field, items, shows, every } = call;
  if (answer.status === status && [code, field, items, shows, every].every((one) => one === undefined)) return [];
  const body = parsed(answer);
  const found: string[] = [];
  if (answer.status !== call.status)
    found.push(`status ${answer.status}, expected ${call.status}: ${JSON.stringify(body)}`);
  if (call.code !== undefined && member(body, "code") !== call.code)
    found.push(`code ${member(body, "code")}, not ${call.code}`);
  if (call.field !== undefined && !namedFields(body).includes(call.field)) {
    found.push(`names ${namedFields(body).join(", ")}, not ${call.field}`);
  }
  return [...found, ...contentDisappointments(call, body, seen)];
}

function contentDisappointments(call: Expectation, body: Json, seen: Seen): string[] {
  const found: string[] = [];
  const list = member(body, "items");
  const items = Array.isArray(list) ? list : [];
  if (call.items !== undefined && !(Array.isArray(list) && holds(items.length, call.items))) {
    found.push(`${Array.isArray(list) ? items.length : "no"} items, expected ${call.items}`);
  }
  const every = call.every === undefined ? undefined : given(call.every, seen);
  const shows = call.shows === undefined ? undefined : given(call.shows, seen);
  if (every !== undefined) for (const item of items) found.push(...missing("", every, item));
  if (shows !== undefined) found.push(...missing("", shows, body));
  return found;
}

function holds(count: number, wanted: number | "some" | "over 200"): boolean {
  if (wanted === "some") return count > 0;
  return wanted === "over 200" ? count > 200 : count === wanted;
}

/** The places of `wanted` that `actual` does not have. Arrays count as a whole. */
function missing(place: string, wanted: Json, actual: Json | undefined): string[] {
  if (isJsonObject(wanted) && Object.keys(wanted).length > 0 && isJsonObject(actual)) {
    return Object.entries(wanted).flatMap(([key, value]) => missing(`${place}/${key}`, value, member(actual, key)));
  }
  if (JSON.stringify(wanted) === JSON.stringify(actual)) return [];
  return [`${place}: ${JSON.stringify(actual)}, expected ${JSON.stringify(wanted)}`];
}
