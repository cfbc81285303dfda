/** Helpers that make seeded records. */
import type { JsonObject } from "../json.ts";
import { makeRecord, type StoredRecord } from "../store/collection.ts";
import type { Random } from "./prng.ts";

/** The moment from which all seeded times are counted; it does not depend on the clock. */
const BEGINNING = Date.UTC(2025, 10, 3, 8, 0, 0);
const STEP_MS = 61_337;

/** Makes seeded records with uids, times and variety of their own. */
export interface Builder {
  readonly random: Random;
  /** A fresh uid below `parent` (at the root: 40 hex digits). */
  uid(parent: string): string;
  /** The next moment of the organisation's past. */
  time(): string;
  /** Both times of a record, the second sometimes later. */
  times(): { createTime: string; updateTime: string };
  /** A record; `value` must hold its uid. */
  record(value: JsonObject, extra?: JsonObject): StoredRecord;
}

/** A builder whose every choice follows from `random`. */
export function createBuilder(random: Random): Builder {
  let moment = BEGINNING;
  const time = () => {
    moment += STEP_MS;
    return new Date(moment).toISOString();
  };
  return {
    random,
    uid: (parent) => (parent === "" ? random.hex(40) : `${parent}/${random.hex(16)}`),
    time,
    times() {
      const createTime = time();
      return { createTime, updateTime: random.chance(0.3) ? time() : createTime };
    },
    record: (value, extra) => makeRecord(value, extra),
  };
}

/** Descriptions that have broken decoders before; all are legal. */
export const AWKWARD_TEXTS: readonly [string, ...string[]] = [
  "",
  "Überprüfung & Freigabe, naïve café",
  "日本語の説明 🚀👩‍💻",
  'quotes " and \\ backslashes / and \u2028 separators',
  '{"id":"not a field","uid":"neither"}',
  "   spaces kept   ",
  "null",
  "\u0000 control and \u007f delete",
  "العربية من اليمين إلى اليسار",
];
