/** When was a record made and last changed? (Specification section 9: createdAt and updatedAt become createTime and updateTime.) */
import type { Row } from "../../model/resource.ts";

/** Every record shows both when v2 sends them; what v2 does not send is not there (so: explicit presence). */
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

/** Both, where the published v1 has them too. */
export const recordTimes: readonly Row[] = [createdAt, updatedAt];

/** The same two where the specification alone says so: the published v1 message has no such time. */
export const specifiedCreatedAt = { ...createdAt, unpublished: true } as const satisfies Row;
export const specifiedUpdatedAt = { ...updatedAt, unpublished: true } as const satisfies Row;
export const specifiedTimes: readonly Row[] = [specifiedCreatedAt, specifiedUpdatedAt];
