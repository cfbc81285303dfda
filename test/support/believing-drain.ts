/** Reads a list for tests that are not about drains: page after page by token, without checks. */
import type { Drain, ListPlan } from "../../src/model/list.ts";
import type { Tools } from "../../src/translate/operation.ts";

/** Both drains of an operation; one chunk is one page. */
export function believingDrains(send: Tools["send"]): Pick<Tools, "drain" | "longDrain"> {
  const drain: Drain = (plan) => readAll(plan, send);
  return { drain, longDrain: drain };
}

async function readAll(plan: ListPlan, send: Tools["send"]): ReturnType<Drain> {
  const chunks: Uint8Array[] = [];
  let headers: Awaited<ReturnType<Tools["send"]>>["headers"] | undefined;
  let records = 0;
  for (let token = "", pages = 1; ; pages += 1) {
    const response = await send(plan.request({ size: 200, ...(token === "" ? {} : { token }) }));
    if (response.status !== 200) return { kind: "refused", response };
    headers ??= response.headers;
    const { bytes, starts, ends, keys, hidden, nextPageToken } = await plan.read(response);
    const kept = keys.flatMap((_, index) => (hidden?.[index] === 1 ? [] : [index]));
    const text = kept.map((index) => Buffer.from(bytes.subarray(starts[index], ends[index])).toString()).join(",");
    records += kept.length;
    if (text !== "") {
      const shown = (await plan.show?.(Buffer.from(text))) ?? { kind: "shown", parts: [Buffer.from(text)] };
      if (shown.kind === "refused") return shown;
      chunks.push(...shown.parts);
    }
    if (nextPageToken === "") return { kind: "list", headers, chunks, records, pages, witness: "none" };
    token = nextPageToken;
  }
}
