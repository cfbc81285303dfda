/** When was a record made and last changed? (Specification section 9: createdAt and updatedAt become createTime and updateTime.) */
import type { Row } from "../../model/resource.ts";

/**
 * Every record shows both when v2 sends them; what v2 does not send is not there (so: explicit presence). The specification says this of
 * all resources, also of those whose known v1 messages had no times (groups, roles, identity providers, associations).
 */
export const createdAt = {
  v1: "createdAt",
  v2: "createTime",
  kind: "timestamp",
  access: "output",
  presence: "explicit",
} as const satisfies Row;

export const updatedAt = {
  v1: "updatedAt",
  v2: "updateTime",
  kind: "timestamp",
  access: "output",
  presence: "explicit",
} as const satisfies Row;

/** Both, for records that have no further time. */
export const recordTimes: readonly Row[] = [createdAt, updatedAt];
