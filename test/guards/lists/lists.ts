/** Which guards keep a list whole and bounded? */
import { guards } from "../guard.ts";

const DRAINS = [
  "test/upstream/drain/limits.test.ts",
  "test/upstream/drain/faults.test.ts",
  "test/upstream/drain/cursor.test.ts",
  "test/upstream/drain/windows.test.ts",
  "test/upstream/drain/long.test.ts",
];

export const LISTS = [
  ...guards("src/upstream/drain/limits.ts", DRAINS, [
    ["the time of a list", "if (seconds < limits.maxSeconds) return;", "return;"],
    ["the pages of a list", "if (pages >= limits.maxPages) throw", "if (false) throw"],
    ["the records of a list", "if (size.records > limits.maxRecords) throw", "if (false) throw"],
    ["the bytes of a list", "if (size.bytes > limits.maxBytes) throw", "if (false) throw"],
    ["the announced records of a list", "if (totalCount > limits.maxRecords) throw", "if (false) throw"],
    ["the announced pages of a list", "if (pages > limits.maxPages) throw", "if (false) throw"],
  ]),
  ...guards("src/upstream/drain/page.ts", DRAINS, [
    ["a page is no longer than asked for", "if (page.keys.length > pageSize) {", "if (false) {"],
    [
      "a page skips what it was asked to",
      "page.skipped !== undefined && page.skipped !== skip) return",
      "false) return",
      ["test/upstream/drain/page.test.ts > what was skipped"],
    ],
    ["a first page skips nothing", "if (!skips && page.skipped !== undefined && page.skipped !== 0) {", "if (false) {"],
    ["a page that says nothing is no end", "if (saysNothing(run.merged, page))", "if (false)"],
    [
      "a page without its records is none",
      "if (page.bare !== true) return;",
      "return;",
      ["test/lists/bad-pages.test.ts > T-DRN-17: a page that could be taken"],
    ],
    ["repairs have an end", "return run.repairs >= 0;", "return true;", ["test/upstream/drain/page.test.ts > repairs"]],
    [
      "who has left asks for no page",
      "  signal.throwIfAborted();\n  checkTime(",
      "  checkTime(",
      ["test/upstream/drain/leaving.test.ts", "test/upstream/drain/page.test.ts", "test/upstream/drain/calls.test.ts"],
    ],
  ]),
  ...guards("src/upstream/drain/take.ts", DRAINS, [
    ["a token that may skip proves nothing", "if (trusts || doubted) merged.proved = false;", ""],
    [
      "a proof that was announced is kept",
      'if (run.announced !== "cover" || merged.proved) return;',
      "return;",
      ["test/upstream/drain/long.test.ts"],
    ],
  ]),
  ...guards(
    "src/upstream/queue/fair-queue.ts",
    ["test/upstream/queue/fair-queue.test.ts"],
    [
      ["the number of places", "taken < capacity - (line.taken", "0 < capacity - (line.taken"],
      ["the places kept for others", "(line.taken < kept ? 0 : kept)", "0"],
      ["the turns of credentials", "line.taken < best.taken", "false"],
      ["the floor of credentials that were not accepted", "starts % FLOOR === FLOOR - 1", "false"],
    ],
  ),
];
