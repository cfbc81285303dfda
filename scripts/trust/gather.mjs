/** Collects the results of the runs by id, from vitest's JSON reports, the lines of figures, and the exit codes of programs. */

const ID = /T-[A-Z]{3}-\d{2}/g;

/** How often tests with each id passed, failed and were skipped in one report of vitest. */
export function testsOf(report) {
  const tests = new Map();
  for (const { assertionResults } of report.testResults) {
    for (const { fullName, status } of assertionResults) {
      for (const id of new Set(fullName.match(ID))) {
        const counts = tests.get(id) ?? { passed: 0, failed: 0, skipped: 0 };
        counts[status === "passed" || status === "failed" ? status : "skipped"] += 1;
        tests.set(id, counts);
      }
    }
  }
  return tests;
}

/** One report of vitest with the files of `again`, another one, in the place of what they gave in `report`. */
export function mended(report, again) {
  const names = new Set(again.testResults.map(({ name }) => name));
  const testResults = [...report.testResults.filter(({ name }) => !names.has(name)), ...again.testResults];
  const count = (status) =>
    testResults.flatMap((one) => one.assertionResults).filter((one) => one.status === status).length;
  return { ...report, testResults, numPassedTests: count("passed"), numFailedTests: count("failed") };
}

/**
 * Figures with those of `again` in the place of what had been counted or measured of the same thing. (Each file of tests has its
 * own words.)
 */
export function replaced(figures, again) {
  const key = ({ id, what, unit }) => JSON.stringify([id, what, unit]);
  const keys = new Set(again.map(key));
  return [...figures.filter((one) => !keys.has(key(one))), ...again];
}

/** A program that tries ids as a whole: each id of its figures has passed with it, or failed. */
export function triedBy(figures, passed) {
  const ids = [...new Set(figures.map(({ id }) => id))];
  return new Map(ids.map((id) => [id, { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 }]));
}

/** Each line of `text` as a figure. Throws for a line that is none. */
export function figuresOf(text) {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const { id, what, value, unit } = JSON.parse(line);
    // JSON has no infinity: a slope or share that could not be worked out comes as null.
    if (typeof id !== "string" || typeof what !== "string" || typeof unit !== "string" || typeof value !== "number") {
      throw new Error(`no figure: ${line}`);
    }
    return { id, what, value, unit };
  });
}

/** One entry for each thing that was counted or measured: how often, the sum, the least and the greatest. */
export function summed(figures) {
  const all = new Map();
  for (const { id, what, value, unit } of figures) {
    const key = JSON.stringify([id, what, unit]);
    const one = all.get(key) ?? { id, what, unit, times: 0, sum: 0, least: value, greatest: value };
    one.times += 1;
    one.sum += value;
    one.least = Math.min(one.least, value);
    one.greatest = Math.max(one.greatest, value);
    all.set(key, one);
  }
  return [...all.values()].sort((a, b) => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1));
}

/**
 * `old`, a result, with what `parts` gave of the ids that begin with `prefix` in the place of what it had of these ids. Each of their rows,
 * and each of the runs, has a date and a commit of its own.
 */
export function mergedInto(old, prefix, parts, { date }) {
  const isOf = (id) => id.startsWith(prefix);
  const own = parts.map((part) => ({
    ...part,
    tests: new Map([...part.tests].filter(([id]) => isOf(id))),
    figures: part.figures.filter(({ id }) => isOf(id)),
  }));
  const fresh = resultOf(own, {});
  const commitOf = (id) => [...new Set(own.filter(({ tests }) => tests.has(id)).map(({ at }) => at))].join(", ");
  const dated = Object.entries(fresh.tests).map(([id, counts]) => [id, { ...counts, date, commit: commitOf(id) }]);
  const commands = new Set(own.map(({ command }) => command));
  const isOld = ({ id }) => fresh.tests[id] === undefined;
  return {
    ...old,
    runs: [
      ...old.runs.filter(({ command }) => !commands.has(command)),
      ...fresh.runs.map((run, i) => ({ ...run, date, commit: own[i].at })),
    ],
    tests: Object.fromEntries(
      [...Object.entries(old.tests), ...dated].sort(([a], [b]) => (a === b ? 0 : a < b ? -1 : 1)),
    ),
    figures: [...old.figures.filter(isOld), ...fresh.figures].sort((a, b) =>
      a.id === b.id ? 0 : a.id < b.id ? -1 : 1,
    ),
  };
}

/** `parts`: what each run was and gave, `{ command, passed, failed, seconds, tests, figures }`. Ids and their counts in the order of ids. */
export function resultOf(parts, around) {
  const tests = {};
  for (const { command, tests: counted } of parts) {
    for (const [id, counts] of counted) {
      tests[id] ??= { passed: 0, failed: 0, skipped: 0, by: [] };
      const one = tests[id];
      for (const state of ["passed", "failed", "skipped"]) one[state] += counts[state];
      one.by.push(command);
    }
  }
  return {
    ...around,
    runs: parts.map(({ command, passed, failed, seconds }) => ({ command, passed, failed, seconds })),
    tests: Object.fromEntries(Object.entries(tests).sort(([a], [b]) => (a < b ? -1 : 1))),
    figures: summed(parts.flatMap(({ figures }) => figures)),
  };
}
