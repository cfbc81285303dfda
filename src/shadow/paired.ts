/** Compares the translated response to a request with two of native's, for a replay. No client waits for it, so native is always asked twice. */
import type { ApiResponse } from "../model/http.ts";
import { isTrouble, type TranslatedAnswer } from "./answers.ts";
import { type DetailedComparison, type DifferenceGroup, withoutNoise } from "./differences.ts";
import { ComparisonError } from "./outcome.ts";
import { type ComparisonWork, compareResponses, readsOnly } from "./reads.ts";

/** One attempt: native, the translation, native again. */
export interface PairedComparison {
  /** Of native's first response. */
  readonly status: number;
  /** What only the translated response has otherwise. */
  readonly differences: readonly DifferenceGroup[];
  /** What only native's second response has otherwise. */
  readonly unstable: readonly DifferenceGroup[];
  /** Where native's two responses differ. */
  readonly noise: readonly string[];
}

/** Where the responses come from. */
export interface PairedResponses {
  native(): Promise<ApiResponse>;
  translated(): Promise<TranslatedAnswer>;
  /** Each of them writes. */
  readonly write: boolean;
}

/**
 * If the translation is right, its response and native's second are alike: each differs from native's first only by what changes with time. So
 * what one of them has otherwise and the other has not comes up as often on either side. Throws ComparisonError.
 */
export async function comparePaired(work: ComparisonWork, responses: PairedResponses): Promise<PairedComparison> {
  const native = await served(responses.native());
  const translated = await responses.translated();
  const again = await served(responses.native());
  // A token that expired in between does not count.
  if (again.status === 401 && native.status !== 401) throw new ComparisonError("refused");
  const compared = await compareResponses(work, native, translated);
  const control = await compareResponses(work, native, { answer: again, own: false });
  return {
    status: native.status,
    differences: real(withoutNoise(compared, control, !responses.write)),
    unstable: real(withoutNoise(control, compared, !responses.write)),
    noise: [...new Set([...real(control).map(({ path }) => path), ...control.detail.volatile])],
  };
}

/** The responses to a read. */
export function pairedReads({ answers }: Pick<ComparisonWork, "answers">): PairedResponses {
  return {
    native: () => answers.native(),
    translated: () => answers.translated(new Uint8Array(), readsOnly),
    write: false,
  };
}

async function served(answer: Promise<ApiResponse>): Promise<ApiResponse> {
  const response = await answer;
  if (isTrouble(response.status)) throw new ComparisonError("native");
  return response;
}

/** Another order does not count: a v1 client cannot rely on one. */
function real({ detail }: DetailedComparison): readonly DifferenceGroup[] {
  return detail.groups.filter((group) => group.class !== "order");
}

/** Of `before`, what is still in `now`: at the same path in the same record. */
export function persisting(
  before: readonly DifferenceGroup[],
  now: readonly DifferenceGroup[],
): readonly DifferenceGroup[] {
  return before.flatMap((group) => {
    const same = now.find((each) => each.class === group.class && each.path === group.path);
    if (same === undefined) return [];
    const ids = new Map([...group.ids].filter(([id]) => same.ids.has(id)));
    const beyond = Math.min(group.beyond, same.beyond);
    return ids.size === 0 && beyond === 0 ? [] : [{ ...group, ids, beyond }];
  });
}
