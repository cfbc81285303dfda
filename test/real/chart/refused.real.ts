import { describe, expect, it } from "vitest";
import { template } from "./chart.ts";
import { CONTRADICTING, type Refusal, WRONG } from "./refusals.ts";

const FEWEST = { config: { upstream: { v2: { url: "https://api.example.com" } } } };

/** helm tells the place in a schema as `/a/b/0`; guards tell it as `a.b[0]`. */
function saysWhere(text: string, path: string): boolean {
  const pointer = `'/${path.replaceAll(".", "/").replaceAll(/\[(\d+)\]/g, "/$1")}'`;
  const escaped = path.replaceAll(/[.[\]]/g, "\\$&");
  return text.includes(pointer) || new RegExp(`(^|[^\\w.])${escaped}($|[^\\w])`).test(text);
}

/** Values over values, as helm lays them: maps are merged, everything else is replaced. */
function over(below: unknown, above: unknown): unknown {
  const isMap = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isMap(below) || !isMap(above)) return above;
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) merged[key] = key in below ? over(below[key], value) : value;
  return merged;
}

async function refusal([, values, where, bare]: Refusal): Promise<readonly [text: string, isNamed: boolean]> {
  const { code, out, err } = await template({ set: bare === true ? values : (over(FEWEST, values) as typeof values) });
  expect([code === 0, out]).toEqual([false, ""]);
  return [err, saysWhere(err, where)];
}

const named = (all: readonly Refusal[]) => all.map((one) => [one[0], one] as const);

it("refuses none of them without what is wrong", async () => {
  expect(await template({ set: FEWEST })).toMatchObject({ code: 0 });
});

describe("of the wrong kind or form", () => {
  it.each(named(WRONG))("%s", async (_, wrong) => {
    const [text, isNamed] = await refusal(wrong);
    expect([text, isNamed]).toEqual([text, true]);
  });
});

describe("contradicting each other, or missing", () => {
  it.each(named(CONTRADICTING))("%s", async (_, wrong) => {
    const [text, isNamed] = await refusal(wrong);
    expect([text, isNamed]).toEqual([text, true]);
    // Not only that it is wrong: what to set, leave out or bring along.
    expect(text).toMatch(
      /\b(set|leave|name|use|remove|give|choose|add|raise|lower|write|bring|make|enable|disable|put|needs?|without|instead|one of)\b/i,
    );
    expect(text).not.toMatch(
      /nil pointer|wrong type for value|can't evaluate field|error calling (?!fail)\w+: (?!.*execution error)/,
    );
  });
});
