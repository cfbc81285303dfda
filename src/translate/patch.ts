/** How is a PATCH sent, and what does its answer prove? (Design: updates.) */
import { OurHeader } from "../model/http.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { ApiRequest, ApiResponse, HeaderList } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import { RpcCode } from "../model/status.ts";
import { readError } from "./error.ts";
import type { Parts } from "./parts.ts";
import type { MaskMemory, Tools } from "./tools.ts";
import { findKept, findMismatches, type MaskSpelling, type Mismatch, type Patch } from "./update.ts";

/** An answer, and the spelling that it would prove. */
export interface Patched {
  readonly response: ApiResponse;
  readonly spelling: MaskSpelling | undefined;
}

/** A PATCH that took effect: `record` is v2's answer to it. */
export interface Effect {
  readonly patch: Patch;
  readonly record: JsonObject;
  readonly spelling: MaskSpelling | undefined;
}

/** How platforms say that a mask names no field of theirs. */
const ABOUT_THE_MASK = /mask|(?:unknown|invalid|no such) (?:field|name|path)|no path|could not find field/i;
/** Only so much of an error is searched. */
const MOST_BYTES = 4096;

/** The PATCH with its mask in one spelling. */
type Written = (mask: string) => ApiRequest;

/** The PATCH at `path`, its mask in the query. */
export function patchAt(path: string, { body }: Patch, headers: HeaderList): Written {
  return (mask) => ({ method: "PATCH", target: `${path}?updateMask=${mask}`, headers, body: Buffer.from(body) });
}

/**
 * Sends the PATCH in the remembered spelling; while there is none, in camelCase, as the specification names fields. When
 * that is refused (400, code 3: nothing was done), the other spelling is tried once, unless the configuration fixes it. A
 * spelling that worked before must be refused for the mask: anything else is wrong with what the client sent.
 */
export async function sendPatch(
  { asked }: Patch,
  written: Written,
  { send }: Pick<Tools, "send">,
  { known, fixed }: MaskMemory,
): Promise<Patched> {
  const sendAs = (spelling: MaskSpelling) => send(written(asked.map(({ mask }) => mask[spelling]).join(",")));
  const spelling = known ?? "camelCase";
  const first: Patched = { response: await sendAs(spelling), spelling: known === undefined ? spelling : undefined };
  const sameInBoth = asked.every(({ mask }) => mask.camelCase === mask.snake_case);
  if (fixed || sameInBoth || !isRefusedArgument(first.response)) return first;
  if (known !== undefined && !isAboutMask(first.response)) return first;
  const other = spelling === "camelCase" ? "snake_case" : "camelCase";
  const second: Patched = { response: await sendAs(other), spelling: other };
  // Refused for the same reason: then it was not, or not only, the spelling. Any other refusal came after the check of
  // the mask, and tells the client more than the first.
  return isRefusedArgument(second.response) ? first : second;
}

/**
 * True when the platform refused `patch` (nothing was done), and may have done so for fields that the client merely left out: it was
 * not allowed, or it was an invalid argument of the mask, or of one of these fields.
 */
export function mayYield({ asked }: Patch, response: ApiResponse): boolean {
  const yielding = asked.filter(({ yields }) => yields);
  if (yielding.length === 0) return false;
  if (response.status === 403) return readError(response)?.code === RpcCode.PERMISSION_DENIED;
  if (!isRefusedArgument(response)) return false;
  const text = textOf(response);
  return (
    ABOUT_THE_MASK.test(text) || yielding.some(({ mask }) => Object.values(mask).some((name) => text.includes(name)))
  );
}

function isAboutMask(response: ApiResponse): boolean {
  return ABOUT_THE_MASK.test(textOf(response));
}

function textOf({ body }: ApiResponse): string {
  return new TextDecoder().decode(body.subarray(0, MOST_BYTES));
}

function isRefusedArgument(response: ApiResponse): boolean {
  return response.status === 400 && readError(response)?.code === RpcCode.INVALID_ARGUMENT;
}

/**
 * Compares what was asked for with what the platform says it stored, and teaches `memory` the mask's spelling. Gives the v1 names
 * of what is not as the client asked, also of what was left alone on purpose. Throws `Problem` UPDATE_INCOMPLETE by
 * `updates.mismatch`.
 */
export function settle(effects: readonly Effect[], parts: Parts, tools: Tools, memory = tools.mask): string[] {
  const found = effects.map((effect) => ({ ...effect, mismatches: findMismatches(effect.patch, effect.record) }));
  for (const { patch, spelling, mismatches } of found) {
    if (spelling !== undefined && provesSpelling(patch, mismatches)) memory.learn(spelling);
  }
  judge(
    found.flatMap(({ mismatches }) => mismatches),
    parts,
    tools,
  );
  return found.flatMap(({ patch, record, mismatches }) => [
    ...mismatches.map(({ v1 }) => v1),
    ...findKept(patch, record),
  ]);
}

/** A field that is spelled differently was asked for and took effect: so the upstream understood this spelling. */
function provesSpelling(patch: Patch, mismatches: readonly Mismatch[]): boolean {
  const telling = patch.asked.filter(({ mask }) => mask.camelCase !== mask.snake_case);
  return telling.length > 0 && !telling.some(({ v1 }) => mismatches.some((mismatch) => mismatch.v1 === v1));
}

/** Throws `Problem` UPDATE_INCOMPLETE by `updates.mismatch`. */
function judge(mismatches: readonly Mismatch[], parts: Parts, tools: Tools): void {
  tools.exchange.mismatches.push(...mismatches.map(({ v1 }) => v1));
  const { mismatch } = parts.options;
  const failing = mismatches.filter(({ zero }) => mismatch === "fail" || (mismatch === "zeros" && zero));
  if (failing.length > 0) {
    const names = failing.map(({ v1 }) => v1).join(", ");
    throw new Problem(
      "UPDATE_INCOMPLETE",
      `the platform did not store what was asked for: ${names}; read the record and repeat the update`,
      {
        fieldViolations: failing.map(({ v1, zero }) => ({
          field: v1,
          description: zero ? "was to become empty" : "differs",
        })),
      },
    );
  }
}

/** Names what is not as the client asked. */
export function namingHeader(names: readonly string[]): HeaderList {
  return names.length === 0 ? [] : [[OurHeader.MISMATCH, names.join(", ")]];
}

/** The record that v2 answered with. Throws `Problem` UPSTREAM_INVALID, with `metadata`, when there is none. */
export function parseRecord(response: ApiResponse, metadata: Readonly<Record<string, string>> = {}): JsonObject {
  const record = readJson(response);
  if (isJsonObject(record)) return record;
  throw new Problem("UPSTREAM_INVALID", "the platform's answer is not what was asked for: it is no record", {
    metadata,
  });
}

function readJson(response: ApiResponse): unknown {
  try {
    return JSON.parse(Buffer.from(response.body).toString("utf8"));
  } catch {
    return undefined;
  }
}
