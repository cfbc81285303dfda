/** Which JSON object do these bytes hold? */
import { isJsonObject, type Json, type JsonObject } from "../model/json.ts";

/** Undefined for anything else, no bytes included. One step, so only for what is not large (`bulkOf`). */
export function parsedObject(bytes: Uint8Array | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes ?? []).toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `value` where it is a text. */
export function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
