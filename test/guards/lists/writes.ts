/** Guards that keep a write whole and a path unambiguous. */
import { guards } from "../guard.ts";

const UPDATES = ["test/translate/replace.test.ts"];
const PATHS = ["test/router/path.test.ts", "test/router/router.test.ts", "test/router/uid.test.ts"];

export const WRITES = [
  ...guards(
    "src/translate/update.ts",
    ["test/translate/composites/replace-with-sub.test.ts"],
    [
      [
        "a field left out of a synced record stays",
        "return plan.synced ? leftAlone() : cleared();",
        "return cleared();",
      ],
      ["what the platform refuses to clear is left alone", "if (plan.yields) return leftAlone();", ""],
    ],
  ),
  ...guards("src/translate/update.ts", UPDATES, [
    ["a field that is left out becomes zero", "return sent?.raw ?? zeroText(row);", "return sent?.raw;"],
    ["a field that nobody may set is not set", 'case "never":', 'case "never":\n      return zeroText(row);'],
    [
      "a field is set only when it changes",
      "return isSame(parseExact(raw), stored, row, false) ? undefined : raw;",
      "return raw;",
    ],
    [
      "an empty secret clears none",
      'if (sent !== undefined && !(row.presence !== "explicit" && isZero(parseExact(sent.raw), row))) return sent.raw;',
      "if (sent !== undefined) return sent.raw;",
    ],
    [
      "what was stored is compared with what was asked",
      'if (isSame(wanted, found, row, row.echo === "normalised")) continue;',
      "continue;",
    ],
  ]),
  ...guards(
    "src/translate/update.ts",
    ["test/property/unseen.test.ts"],
    [["what v1 does not know of a message is sent along", "return after === before ? sent :", "return true ? sent :"]],
  ),
  ...guards(
    "src/translate/update.ts",
    ["test/grpc/unseen.test.ts"],
    [["a name without a number stays over gRPC", "plan.numbersOnly &&", "false &&"]],
  ),
  ...guards(
    "src/translate/replace.ts",
    ["test/end-to-end/traps/updates.test.ts"],
    [
      ["a name that v2 dropped is an error", "(zero || dropped)", "zero"],
      [
        "a create without a capability that v2 dropped is an error",
        '(options.mismatch === "zeros" && !refused)) return names;',
        '(options.mismatch === "zeros")) return names;',
      ],
    ],
  ),
  ...guards("src/translate/replace.ts", UPDATES, [
    ["an update that was not done is an error", "if (failing.length === 0) return;", "return;"],
  ]),
  ...guards("src/router/path.ts", PATHS, [
    ["two hex digits of an escape", "if (!HEX_PAIR.test(digits)) throw", "if (false) throw"],
    ["no escaped control characters", "if (code < 0x20 || code === 0x7f) throw", "if (false) throw"],
    ["no escaped bytes beyond ASCII", "if (code > 0x7f) throw", "if (false) throw"],
    ["no escapes that change what a path means", "if (STRUCTURAL.has(char)) throw", "if (false) throw"],
    ["one spelling of each letter", "if (UNRESERVED.test(char)) throw", "if (false) throw"],
    ["plain letters in a path", "} else if (NOT_PLAIN.test(char)) {", "} else if (false) {"],
    ["no empty segment", "if (empty !== -1) throw", "if (false) throw"],
    ["no segment of dots", "if (dots !== -1) throw", "if (false) throw"],
  ]),
];
