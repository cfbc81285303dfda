/** Rules files that the bench gives to carryover. */

/** Native v1 answers everything, and every answer is compared. */
export const SHADOW_ALL = `version: carryover/v1
rules:
  - name: everything
    match: {}
    mode: shadow
    shadow: { sample: 1.0 }
`;

/**
 * `count` rules about the reads of groups. The last one takes every request; the others are looked at and do not match.
 * They match on a client, a header, or a percentage of one client, in turns.
 */
export function manyRules(count) {
  const rules = Array.from({ length: count - 1 }, (_, i) => ({
    name: `rule-${i}`,
    match: matchOf(i),
    mode: "translate",
  }));
  rules.push({ name: "everything-else", match: {}, mode: "translate" });
  // JSON is YAML.
  return JSON.stringify({ version: "carryover/v1", rules });
}

function matchOf(i) {
  const reads = { resource: ["groups"], operation: "reads" };
  if (i % 3 === 0) return { ...reads, client: `somebody-${i}` };
  if (i % 3 === 1) return { ...reads, header: { [`x-canary-${i}`]: "always" } };
  return { ...reads, client: "bench", percent: i / 10_000 };
}
