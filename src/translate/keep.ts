/** Does one record, read by its uid, match the other filters of the request? (Design: lists, the id filter.) */
import { type Json, member } from "../model/json.ts";
import type { ListQuery } from "./query.ts";

/** `record`: the v2 record as it came, valid JSON; `uid`: its own. All filters narrow, as v1's did. */
export function keepsRecord(record: Uint8Array, uid: string, query: ListQuery): boolean {
  if (![...query.keyTests, ...query.getTests].every((test) => test(uid))) return false;
  if (query.memberTests.length === 0) return true;
  const value = JSON.parse(Buffer.from(record).toString("utf8")) as Json;
  return query.memberTests.every(({ member: name, values, zero }) => values.has(String(member(value, name) ?? zero)));
}
