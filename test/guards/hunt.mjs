/**
 * Runs the tests with one piece of code replaced and finds those that fail. It is a separate process that takes guards
 * as messages, one at a time, and responds to each. The files stay unchanged: the tests' module loader gets the other
 * text, and keeps everything else from one guard to the next.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createVitest } from "vitest/node";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Without its guard a test may wait for what never comes. */
const PATIENCE_MS = 10_000;

const overlay = { file: undefined, text: undefined };

const plugin = {
  name: "without-a-guard",
  enforce: "pre",
  load: (id) => (id.split("?")[0] === overlay.file ? overlay.text : undefined),
};

const vitest = await createVitest(
  "test",
  {
    watch: false,
    config: false,
    root: ROOT,
    include: ["test/**/*.{test,all}.ts"],
    setupFiles: ["test/setup.ts"],
    reporters: [{}],
    maxWorkers: 1,
    // One test at a time: the first that fails ends the run, and concurrent ones would go unreported.
    maxConcurrency: 1,
    bail: 1,
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    teardownTimeout: 2_000,
    retry: 0,
  },
  { plugins: [plugin] },
);

/** The text of `file` with `other` in the place of `old`. */
function without({ file, old, other }) {
  const text = readFileSync(join(ROOT, file), "utf8");
  const found = text.split(old).length - 1;
  if (found !== 1) throw new Error(`${file} has this ${found} times, and not once: ${old}`);
  return text.replace(old, () => other);
}

/** Gives `text` to every later import of `file`, or the file's own text where it is undefined. */
function lay(file, text) {
  overlay.file = join(ROOT, file);
  overlay.text = text;
  vitest.invalidateFile(overlay.file);
}

/**
 * The first test that fails, undefined when all pass. Throws where none could be run. `tests` is a file, or a file and words of titles:
 * `test/corpus/requests.test.ts > T-SMG-08`.
 */
async function firstToFail(tests) {
  const [file, words] = tests.split(" > ", 2);
  const options =
    words === undefined ? {} : { testNamePattern: new RegExp(words.replaceAll(/[$()*+.?[\]^{|}\\]/g, "\\$&")) };
  const specification = vitest.getRootProject().createSpecification(join(ROOT, file), options);
  const { testModules } = await vitest.runTestSpecifications([specification]);
  const [module] = testModules.filter(({ moduleId }) => moduleId === specification.moduleId);
  const results = [...(module?.children.allTests() ?? [])].map((test) => [test.result().state, test.fullName]);
  const failed = results.find(([state]) => state === "failed");
  if (failed !== undefined) return failed[1];
  const broken = module?.errors().map(({ message }) => message) ?? [];
  if (broken.length > 0) throw new Error(`${tests} could not be run: ${broken.join("; ")}`);
  if (!results.some(([state]) => state === "passed")) throw new Error(`${tests} has no test that was run`);
  return undefined;
}

/** Where a guard is missed: the file and the test. */
async function missedBy({ file, old, other, tests }) {
  if (file !== undefined) lay(file, without({ file, old, other }));
  try {
    for (const test of tests) {
      const failed = await firstToFail(test);
      if (failed !== undefined) return `${test}: ${failed}`;
    }
    return undefined;
  } finally {
    if (file !== undefined) lay(file, undefined);
  }
}

process.on("message", async (guard) => {
  const started = performance.now();
  const done = (outcome) => process.send({ ...outcome, ms: Math.round(performance.now() - started) });
  try {
    done({ by: await missedBy(guard) });
  } catch (error) {
    done({ error: error instanceof Error ? error.message : String(error) });
  }
});
process.on("disconnect", () => process.exit(0));
process.send({ ready: true });
