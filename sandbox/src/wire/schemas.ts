/** What do the two faces of the platform speak? */
import { CAPABILITIES } from "../data/capabilities.ts";
import { V1_MESSAGES } from "../data/v1-messages.ts";
import { V2_MESSAGES } from "../data/v2-messages.ts";
import type { RecordTimes } from "../options.ts";
import { enumTable, parseSchema, type Schema } from "./schema.ts";

const CAPABILITY_ENUM = enumTable(CAPABILITIES.map(([, name, number]) => [name, number] as const));

/** Native v1, by the times that its records show. */
export const V1: Readonly<Record<RecordTimes, Schema>> = {
  all: parseSchema(V1_MESSAGES),
  published: parseSchema(V1_MESSAGES.replace(/\n.* unpublished$/gm, "")),
};
/** v2. */
export const V2 = parseSchema(V2_MESSAGES, new Map([["Capability", CAPABILITY_ENUM]]));
