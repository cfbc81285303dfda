/** Classifies a list as whole, refused or broken off. Anything else is an error. */
import type { Witness } from "../../../src/model/exchange.ts";
import type { Got } from "./client.ts";

export type Outcome =
  | {
      readonly kind: "whole";
      readonly ids: readonly string[];
      readonly witness: Witness;
      /** Its head went out before its end was known. */
      readonly streamed: boolean;
    }
  | { readonly kind: "error"; readonly status: number; readonly reason: string | undefined; readonly got: Got }
  | { readonly kind: "broken"; readonly ids: readonly string[] };

/** Whose it is stands in the name of a group, and is the role of an invite. */
interface Item {
  readonly id: string;
  readonly name?: string;
  readonly role?: { readonly id: string };
}

/** Reads an answer to a list. Throws for what is none of these, and for records of another credential. */
export function outcomeOf(got: Got, as: string): Outcome {
  if (got.status !== 200 || !got.complete) checkMarkers(got.text, as);
  if (got.status !== 200) return errorOf(got);
  if (!got.complete) return brokenOf(got);
  const { items } = JSON.parse(got.text) as { items: readonly Item[] };
  for (const { name, role } of items) checkMarker(role?.id ?? name?.split(" ", 1)[0], as);
  const header = got.fields.get("carryover-list") ?? "";
  const [, witness, abort] = /^witness=(cover|count|none)(-or-abort)?(?:;|$)/.exec(header) ?? [];
  if (witness === undefined) throw new Error(`a list that does not say what is proved: ${header}`);
  return {
    kind: "whole",
    ids: items.map(({ id }) => id),
    witness: witness as Witness,
    streamed: abort !== undefined || !got.fields.has("content-length"),
  };
}

function errorOf(got: Got): Outcome {
  if (!got.complete) throw new Error(`an error that broke off: ${got.text.slice(0, 200)}`);
  const body = JSON.parse(got.text) as { code: number; details?: { domain?: string; reason?: string }[] };
  if (typeof body.code !== "number") throw new Error(`no error body: ${got.text.slice(0, 200)}`);
  const reason = body.details?.find(({ domain }) => domain === "carryover")?.reason;
  return { kind: "error", status: got.status, reason, got };
}

function brokenOf({ text }: Got): Outcome {
  if (isJson(text)) throw new Error("an answer that broke off, and parses");
  return { kind: "broken", ids: [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id!) };
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Throws when a record in `text` was read for another credential than `as`: whose it is stands in its name. */
function checkMarkers(text: string, as: string): void {
  for (const [, who] of text.matchAll(/(?:"name":"|"role":\{"id":")([^" ]+)/g)) {
    checkMarker(who, as);
  }
}

function checkMarker(who: string | undefined, as: string): void {
  if (who !== as) throw new Error(`a record of ${who} in an answer to ${as}`);
}

/** How often a list that should hold `uids` does not: persistent records lost, records that are there twice. */
export function faultsOf(
  ids: readonly string[],
  uids: readonly string[],
): { readonly lost: number; readonly twice: number } {
  const shown = new Set(ids);
  return { lost: uids.filter((uid) => !shown.has(uid)).length, twice: ids.length - shown.size };
}

/** What a list says is proved about it; undefined when there is none. */
export function witnessOf(outcome: Outcome): Witness | undefined {
  return outcome.kind === "whole" ? outcome.witness : undefined;
}
