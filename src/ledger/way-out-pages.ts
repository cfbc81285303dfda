/** The ways out of all clients: a Markdown page each, and an index by owner. */
import { createHash } from "node:crypto";
import { counted } from "../rules/words.ts";
import { utcMinute } from "./clients-view.ts";
import { difficultyOf } from "./difficulty.ts";
import type { ClientEntry, LedgerSnapshot } from "./entry.ts";
import { compareText } from "./record.ts";
import { type WayOutOptions, wayOut } from "./way-out.ts";
import { code, markdownTable } from "./way-out-names.ts";

export interface WayOutPage {
  /** Name of a file: lower-case letters, digits and `.-_~`. */
  readonly file: string;
  readonly text: string;
}

/** The first line of each page: a later run replaces files that begin so, and no others. */
export const WAY_OUT_MARK =
  "<!-- Written by carryover way-out --all, which replaces and removes files that begin so. -->";
export const WAY_OUT_INDEX = "index.md";

/** The index comes first. */
export function wayOutPages(ledger: LedgerSnapshot, options: WayOutOptions): readonly WayOutPage[] {
  const pages = ledger.clients.map((entry) => ({ file: fileOf(entry.name), text: wayOut(entry, options) }));
  return [{ file: WAY_OUT_INDEX, text: indexOf(ledger) }, ...pages].map(({ file, text }) => ({
    file,
    text: `${WAY_OUT_MARK}\n\n${text}`,
  }));
}

/** Names that are safe everywhere, but for those that mean something else. `~` is in names of the other kind alone. */
const SAFE = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const RESERVED = /^(?:index|con|prn|aux|nul|com\d|lpt\d)$/;
const DIGITS = 16;

/** Differs for each name, also where a file system does not tell upper from lower case. */
function fileOf(name: string): string {
  if (SAFE.test(name) && !RESERVED.test(name)) return `${name}.md`;
  const readable = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 40);
  const digest = createHash("sha256").update(name).digest("hex").slice(0, DIGITS);
  return `${readable === "" ? "client" : readable}~${digest}.md`;
}

function indexOf({ clients, since, at }: LedgerSnapshot): string {
  const owners = new Map<string, ClientEntry[]>();
  for (const entry of clients) {
    const key = entry.owner ?? "";
    const own = owners.get(key) ?? [];
    owners.set(key, [...own, entry]);
  }
  // Whoever has no owner needs one first.
  const sections = [...owners]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([owner, own]) => [
      `## ${owner === "" ? "Nobody named" : code(owner)}`,
      "",
      ...(owner === "" ? ["`clients.names` says no owner for these clients.", ""] : []),
      ...markdownTable(["client", "v1 requests", "last v1", "hardest need", "contact"], own.map(rowOf)),
    ]);
  const left = clients.filter(({ lastV1 }) => lastV1 !== undefined).length;
  return [
    "# Ways out of v1, by owner",
    "",
    `${left} of ${counted(clients.length, "client")} called v1, from ${utcMinute(since)} to ${utcMinute(at)}.`,
    "",
    ...sections,
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}

function rowOf(entry: ClientEntry): readonly string[] {
  const { name, requests, lastV1, contact } = entry;
  return [
    `[${code(name)}](${fileOf(name)})`,
    String(requests.v1),
    lastV1 === undefined ? "never" : utcMinute(lastV1),
    difficultyOf(entry),
    contact === undefined ? "" : code(contact),
  ];
}
