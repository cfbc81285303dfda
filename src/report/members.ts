/** What does a member of foreign JSON hold? (Each function throws `Error` with the name of a member that holds something else.) */
import { isJsonObject, type Json, type JsonObject } from "../model/json.ts";

/** Of ECMAScript's dates. */
export const LAST_TIME = 8.64e15;
/** A million a second for 30 years: whoever tells more has not counted. */
const MOST = 1e15;

export function objectAt(value: Json | undefined, where: string): JsonObject {
  if (!isJsonObject(value)) throw new Error(`${where} is no object`);
  return value;
}

export function textAt(from: JsonObject, name: string): string {
  const value = from[name];
  if (typeof value !== "string") throw new Error(`${name} is no text`);
  return value;
}

/** Milliseconds since 1970, not beyond what a date can hold. */
export function timeAt(from: JsonObject, name: string): number {
  const value = from[name];
  if (typeof value !== "number" || !(value >= 0 && value <= LAST_TIME)) throw new Error(`${name} is no time`);
  return value;
}

/** A whole number from 0 on, as large as anything can have been counted. */
export function countAt(from: JsonObject, name: string): number {
  const value = from[name];
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > MOST) {
    throw new Error(`${name} is no count`);
  }
  return value;
}

/** 0 to 1. */
export function shareAt(from: JsonObject, name: string): number {
  const value = from[name];
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) throw new Error(`${name} is no share`);
  return value;
}

export function booleanAt(from: JsonObject, name: string): boolean {
  const value = from[name];
  if (typeof value !== "boolean") throw new Error(`${name} is neither true nor false`);
  return value;
}

export function wordAt<Word extends string>(from: JsonObject, name: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === from[name]);
  if (found === undefined) throw new Error(`${name} is none of ${words.join(", ")}`);
  return found;
}

export function wordsAt(from: JsonObject, name: string): readonly string[] {
  const value = from[name];
  if (!Array.isArray(value)) throw new Error(`${name} is no list`);
  return value.map((one) => {
    if (typeof one !== "string") throw new Error(`${name} holds more than texts`);
    return one;
  });
}

export function listAt<One>(from: JsonObject, name: string, read: (one: JsonObject) => One): readonly One[] {
  const value = from[name];
  if (!Array.isArray(value)) throw new Error(`${name} is no list`);
  return value.map((one: Json, index) => {
    const where = `${name}[${index}]`;
    try {
      return read(objectAt(one, "it"));
    } catch (error) {
      throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}

/** Absent and null are the same: JSON has no undefined. */
export function optional<One>(
  from: JsonObject,
  name: string,
  read: (from: JsonObject, name: string) => One,
): One | undefined {
  return from[name] === undefined || from[name] === null ? undefined : read(from, name);
}
