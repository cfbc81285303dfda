/** Wrong rows. Changes that no client could notice are left out, each with the reason. */
import type { Json } from "../../src/model/json.ts";
import type { MaskClass, Row } from "../../src/model/resource.ts";
import type { Change, Found, Place } from "./change.ts";
import type { Use } from "./uses.ts";

/** `rows`: those beside it. */
export function rowChanges({ it: row, place }: Found<Row>, use: Use, rows: readonly Row[]): Change[] {
  const changes: Change[] = [{ what: "v1 renamed", place: [...place, "v1"], value: `${row.v1}Other` }];
  // What is neither shown nor sent on (the path's own uid in a body) is read, and its v2 name is not.
  if (row.v2 !== null && (use.answer || row.access !== "output"))
    changes.push({ what: "v2 renamed", place: [...place, "v2"], value: `${row.v2}Other` });
  // Where it is read from is for answers.
  if (row.from !== undefined && use.answer)
    changes.push({ what: "read from elsewhere", place: [...place, "from"], value: ["nowhere"] });
  changes.push(
    ...kindChanges(row, place, use),
    ...presenceChanges(row, place, use),
    ...wordChanges(row, place, use, rows),
  );
  if (row.access !== "output" && use.update)
    changes.push(...maskChanges(row, place), ...zeroChanges(row, place), ...echoChanges(row, place));
  return changes;
}

/** Only what a mask may name is compared with what was stored; only lists and times have a form that does not count. */
function echoChanges(row: Row & { echo?: string; mask?: MaskClass }, place: Place): Change[] {
  if (row.mask === "never" || row.mask === "members" || row.v2 === null) return [];
  const to = (echo: string): Change => ({ what: `echo ${echo}`, place: [...place, "echo"], value: echo });
  if (row.echo === "none") return [to("exact")];
  const hasForms = row.kind === "timestamp" || ("list" in row && row.list === true);
  return [to("none"), ...(hasForms ? [to(row.echo === "normalised" ? "exact" : "normalised")] : [])];
}

/** The small words of a row, each taken away. */
function wordChanges(row: Row, place: Place, use: Use, rows: readonly Row[]): Change[] {
  const changes: Change[] = [];
  const without = (word: string): void => {
    changes.push({ what: `without ${word}`, place: [...place, word], value: undefined });
  };
  // One member alone excludes no other.
  if (row.oneof !== undefined && use.body && rows.some((other) => other !== row && other.oneof === row.oneof))
    without("oneof");
  if (row.absentZero !== undefined && use.answer) without("absentZero");
  if (row.v1Proto !== undefined && use.body) without("v1Proto");
  if ("zeroUnsaid" in row && use.update) without("zeroUnsaid");
  if (row.kind === "map" && row.keys !== undefined && use.body) without("keys");
  if (row.kind === "message" && use.answer)
    for (const [index, name] of (row.v2Only ?? []).entries())
      changes.push({ what: `v2 only ${name}`, place: [...place, "v2Only", index], value: undefined });
  if (use.sent && row.v2 !== null) changes.push(accessChange(row, place));
  return changes;
}

function accessChange(row: Row, place: Place): Change {
  const given: Record<string, unknown> = { ...row };
  const { access: _access, zero: _zero, mask: _mask, required: _required, ...rest } = given;
  if (row.access === "output") return { what: "sent", place, value: { ...rest, zero: null } };
  return { what: "set by the server", place, value: { ...rest, access: "output" } };
}

/** A record always has its uid: nothing stands in for it, whatever it would be. */
function alwaysThere(row: Row, use: Use): boolean {
  return row.v2 === "uid" && row.access === "output" && !use.nested;
}

/** The kind decides on the zero of what is not shown, and on what a body may hold. */
function kindChanges(row: Row, place: Place, use: Use): Change[] {
  const other = OTHER_KIND[row.kind];
  const kind = { what: `kind ${other}`, place, value: { ...withoutKind(row), kind: other } };
  const { list, ...rest } = row as Row & { list?: true };
  const many = { what: list ? "no list" : "a list", place, value: list ? rest : { ...rest, list: true } };
  const hasList = row.kind !== "map" && row.presence !== "explicit";
  if (use.body) return hasList ? [kind, many] : [kind];
  if (!use.answer || alwaysThere(row, use)) return [];
  const changes = [];
  if (!isCopied(row)) changes.push(kind);
  if (hasList) changes.push(many);
  return changes;
}

/**
 * Shown as v2 sent it, whatever its kind, and never made up: an optional scalar, a list of scalars (its zero is `[]`, whatever is
 * in it), an optional message without known members.
 */
function isCopied(row: Row): boolean {
  if (row.kind === "enum" || row.kind === "map") return false;
  if (row.kind === "message") return row.presence === "explicit" && row.rows.length === 0;
  return row.presence === "explicit" || row.list === true;
}

const OTHER_KIND: Readonly<Record<Row["kind"], string>> = {
  string: "bool",
  bool: "string",
  int32: "string",
  uint32: "string",
  int64: "int32",
  timestamp: "string",
  duration: "string",
  bytes: "int64",
  enum: "string",
  message: "string",
  map: "string",
};

function withoutKind(row: Row): object {
  const { kind: _kind, ...rest } = row;
  const { values: _values, rows: _rows, v2Only: _v2Only, of: _of, ...plain } = rest as Record<string, unknown>;
  return plain;
}

/** Presence is for the zeros of answers, and of full replaces: a body that is sent on as it is has none of either. */
function presenceChanges(row: Row, place: Place, use: Use): Change[] {
  if (!use.update && (!use.answer || use.made)) return [];
  // What v2 does not have is in no mask, and where it is not shown it has no zero.
  if (row.v2 === null && !use.answer) return [];
  if (alwaysThere(row, use)) return [];
  if (row.presence !== "explicit") return [{ what: "optional", place: [...place, "presence"], value: "explicit" }];
  return [{ what: "always shown", place: [...place, "presence"], value: undefined }];
}

const MASKS: readonly MaskClass[] = ["always", "when-present", "when-changed", "unless-synced", "never"];

function maskChanges(row: Row & { mask?: MaskClass }, place: Place): Change[] {
  if (row.v2 === null) return [];
  const own = row.mask ?? "always";
  // In a message both do the same: only a record that is synced has one with such rows.
  const inside = place.filter((step) => step === "rows").length > 1;
  const same = inside && own === "when-changed" ? "unless-synced" : own;
  return MASKS.filter((mask) => mask !== own && mask !== same).map((mask) => ({
    what: `mask ${mask}`,
    place: [...place, "mask"],
    value: mask,
  }));
}

/** Only a row that a full replace clears when it is left out has a use for its zero. */
function zeroChanges(row: Row & { zero?: Json; mask?: MaskClass }, place: Place): Change[] {
  if (!["always", "unless-synced"].includes(row.mask ?? "always") || row.v2 === null) return [];
  const other = otherZero(row);
  return other === undefined ? [] : [{ what: "other zero", place: [...place, "zero"], value: other }];
}

function otherZero(row: Row): Json | undefined {
  if (row.kind === "map") return { key: "value" };
  if (row.kind === "enum") {
    const name = row.values.values.find(([v1, number, v2]) => v1 !== null && v2 !== null && number !== 0)?.[0];
    return name == null ? undefined : row.list ? [name] : name;
  }
  if (row.kind === "message") return undefined;
  const one = {
    string: "x",
    bool: true,
    int32: 1,
    uint32: 1,
    int64: "1",
    timestamp: "2020-01-01T00:00:00Z",
    duration: "1s",
    bytes: "eA==",
  }[row.kind];
  return row.list ? [one] : one;
}
