/** Pages that fail. Pages that are none: test/drain/faults.test.ts and test/json/rewrite.test.ts. */
import type { Fault, Reply } from "./platform.ts";

const reply = (body: Reply["body"], rest: Partial<Reply> = {}): Reply => ({ status: 200, body, ...rest });

/** `fault` on pages that hold the record of this rank. */
export function onRank(rank: number, fault: Fault): Fault {
  return (page, ask, shelf) => {
    const hit = page.start <= rank && rank < page.start + page.rows.length;
    return hit ? fault(page, ask, shelf) : page;
  };
}

/** The codes that go with a status, as far as they are used. */
const CODES: Readonly<Record<number, number>> = { 404: 5, 429: 8, 500: 13 };

export const refusal = (status: number, headers: Record<string, string> = {}): Fault => {
  const body = JSON.stringify({ code: CODES[status], message: `as told: ${status}`, details: [] });
  return () => reply(body, { status, headers });
};
