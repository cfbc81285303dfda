/** What do the two faces of the platform speak? */
import { CAPABILITIES } from "../data/capabilities.ts";
import { V1_MESSAGES } from "../data/v1-messages.ts";
import { V2_MESSAGES } from "../data/v2-messages.ts";
import { enumTable, parseSchema } from "./schema.ts";

const CAPABILITY_ENUM = enumTable(CAPABILITIES.map(([, name, number]) => [name, number] as const));

/** Native v1. */
export const V1 = parseSchema(V1_MESSAGES);
/** v2. */
export const V2 = parseSchema(V2_MESSAGES, new Map([["Capability", CAPABILITY_ENUM]]));
