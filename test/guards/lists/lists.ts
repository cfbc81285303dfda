/** Guards that keep a list whole and bounded. */
import { guards } from "../guard.ts";

const DRAINS = [
  "test/drain/limits.test.ts",
  "test/drain/step.test.ts",
  "test/drain/faults.test.ts",
  "test/drain/cursor.test.ts",
  "test/drain/windows.test.ts",
  "test/drain/long.test.ts",
];

export const LISTS = [
  ...guards("src/drain/limits.ts", DRAINS, [
    ["the time of a list", "if (seconds < limits.maxSeconds) return;", "return;"],
    ["the pages of a list", "pages >= limits.maxPages ?", "false ?"],
    ["the records of a list", "if (records > limits.maxRecords) return", "if (false) return"],
    ["the bytes of a list", "bytes > limits.maxBytes ?", "false ?"],
    ["the announced records of a list", "if (totalCount > limits.maxRecords) return", "if (false) return"],
    ["the announced pages of a list", "pages > limits.maxPages ?", "false ?"],
    [
      "the bytes of a list as it is shown",
      "if (bytes > limits.maxBytes) throw",
      "if (false) throw",
      ["test/drain/shown.test.ts > over all chunks"],
    ],
  ]),
  ...guards(
    "src/translate/record-rewriter.ts",
    ["test/translate/joins.test.ts > never fills the memory"],
    [["a shared record is not copied for all of a chunk at once", "size + length > AT_ONCE_BYTES", "false"]],
  ),
  ...guards("src/drain/state.ts", DRAINS, [
    ["a page is no longer than asked for", "if (page.keys.length > how.limits.pageSize) {", "if (false) {"],
    [
      "a page skips what it was asked to",
      "if (place.skip !== undefined && !isEmpty(page)) return",
      "if (false) return",
    ],
    ["a first page skips nothing", "if (atStart) return invalidPage(", "if (false) return invalidPage("],
    ["a blank page is no end", "if (isBlank(list, page, rank))", "if (false)"],
    [
      "an empty page that counts less than came before it is read again",
      "return total < rank && rank < highestTotal(list);",
      "return false;",
      ["test/drain/cursor.test.ts"],
    ],
    [
      "a page without its records is none",
      'if (page.bare === true && page.nextPageToken === "" && (plausible(page.totalCount) ?? 0) > rank)',
      "if (false)",
    ],
    [
      "a chain that may skip again is not followed",
      'return chain > 0 ? { kind: "unskipped" } :',
      "return",
      ["test/drain/segments.test.ts"],
    ],
  ]),
  ...guards("src/drain/step.ts", DRAINS, [
    [
      "repairs have an end",
      "if (state.repairs <= 0) return fallBack(",
      "if (false) return fallBack(",
      ["test/drain/step.test.ts > repairs"],
    ],
    [
      "a refusal that concerns the client is no refusal of skip",
      "!REFUSES_CLIENT.has(got.response.status)",
      "true",
      ["test/drain/windows.test.ts"],
    ],
    [
      "a token that may skip proves nothing",
      "const proved = before.list.proved && !trusts && page.leftOut === undefined;",
      "const proved = before.list.proved;",
    ],
    [
      "records that a page says it left out must be counted",
      "if (list.leftOut !== undefined && !isCounted(list))",
      "if (false)",
      ["test/drain/segments.test.ts"],
    ],
    [
      "a refusal of a page that only carryover asked for is not the client's",
      'if (state.phase.kind !== "first" && isPageRefused(got)) {',
      "if (false) {",
      ["test/drain/faults.test.ts"],
    ],
    [
      "a proof that was announced is kept",
      'if (before.announced === "cover" && !proved) throw',
      "if (false) throw",
      ["test/drain/long.test.ts"],
    ],
  ]),
  ...guards(
    "src/drain/committed-list.ts",
    ["test/drain/ends.test.ts", "test/drain/worlds.test.ts"],
    [
      [
        "a list that falls short is no list",
        "return read >= total || reachesMoved(list, page, total) ?",
        "return true ?",
      ],
      [
        "a list does not end below what was counted on a page that counts less than came before it",
        "return total < list.distinct && read < highestTotal(list) ?",
        "return false ?",
      ],
      ["a count that never changed is met by records", "return moved && (page.skip", "return (page.skip"],
    ],
  ),
  ...guards(
    "src/upstream/retry.ts",
    ["test/upstream/queue/calls.test.ts"],
    [
      [
        "a page that is always refused is repeated no longer than its list may take",
        ">= last) return response;",
        ">= 1e9) return response;",
      ],
    ],
  ),
  ...guards(
    "src/upstream/adaptive-limits.ts",
    ["test/upstream/queue/quota.test.ts"],
    [["a credential that is refused tries more ever more rarely", "doubt: MOST_DOUBT", "doubt: 1"]],
  ),
  ...guards(
    "src/upstream/fair-queue.ts",
    ["test/upstream/queue/fair-queue.test.ts"],
    [
      ["the number of places", "taken < Math.min(places()", "0 < Math.min(places()"],
      ["the places kept for others", "(owner.taken < kept ? 0 : kept)", "0"],
      ["shares of credentials by cost", "one.tag < other.tag : parts < 0", "false : parts < 0"],
      ["the floor of credentials that were not accepted", "starts % FLOOR === FLOOR - 1", "false"],
    ],
  ),
];
