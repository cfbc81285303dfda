/** Is this JSON a ledger's snapshot, whoever wrote it? */
import { isJsonObject, member } from "../model/json.ts";
import type { ClientEntry, ClientNeeds, LedgerSnapshot, VersionCounts } from "../model/ledger.ts";
import { MAX_CLIENTS } from "./merge.ts";
import { isPrintable, plainName } from "./plain.ts";
import { MAX_NEEDS, MAX_OPERATIONS } from "./record.ts";

/**
 * The snapshot that `text` holds, with no member that is none of it and no list longer than a ledger writes. Throws `Error`
 * that says what is wrong: no JSON, another version, a member of another kind.
 */
export function readSnapshot(text: string): LedgerSnapshot {
  const value: unknown = JSON.parse(text);
  const version = member(value, "version");
  if (version !== 1)
    throw new Error(`expected version 1 of a ledger's snapshot, found ${JSON.stringify(version ?? null)}`);
  const clients = listOf(value, "clients", MAX_CLIENTS, readEntry);
  if (new Set(clients.map(({ name }) => name)).size < clients.length) throw wrong("clients", "a name twice");
  return {
    version,
    instances: listOf(value, "instances", MAX_INSTANCES, readName),
    since: number(value, "since"),
    watchedSince: member(value, "watchedSince") === undefined ? undefined : number(value, "watchedSince"),
    at: number(value, "at"),
    requests: counts(value),
    bound: number(value, "bound"),
    clients,
  };
}

const MAX_INSTANCES = 10_000;
/** Names of resources, operations, fields and labels. */
const MAX_WORD = 128;

function readEntry(value: unknown): ClientEntry {
  const lastV1 = member(value, "lastV1");
  const requests = counts(value);
  const over = number(value, "over");
  if (over > requests.v1) throw wrong("over", "more than there are v1 requests");
  return {
    name: readName(member(value, "name")),
    label: word(value, "label"),
    firstSeen: number(value, "firstSeen"),
    lastSeen: number(value, "lastSeen"),
    lastV1: lastV1 === undefined ? undefined : number(value, "lastV1"),
    requests,
    over,
    operations: listOf(value, "operations", MAX_OPERATIONS + 1, (one) => ({
      ...readOperation(one),
      requests: number(one, "requests"),
      lastSeen: number(one, "lastSeen"),
    })),
    needs: readNeeds(member(value, "needs")),
  };
}

function readNeeds(value: unknown): ClientNeeds {
  return {
    longLists: listOf(value, "longLists", MAX_NEEDS, (one) => ({
      resource: word(one, "resource"),
      records: number(one, "records"),
    })),
    zeroedFields: listOf(value, "zeroedFields", MAX_NEEDS, readField),
    lacking: listOf(value, "lacking", MAX_NEEDS, readOperation),
    unknownFields: listOf(value, "unknownFields", MAX_NEEDS, readField),
    unseen: listOf(value, "unseen", MAX_OPERATIONS, readOperation),
  };
}

function readField(value: unknown): { resource: string; field: string } {
  return { resource: word(value, "resource"), field: word(value, "field") };
}

function readOperation(value: unknown): { resource: string; operation: string } {
  return { resource: word(value, "resource"), operation: word(value, "operation") };
}

function counts(value: unknown): VersionCounts {
  const requests = member(value, "requests");
  return { v1: number(requests, "v1"), v2: number(requests, "v2") };
}

/** A count or a time: whole, not negative. */
function number(value: unknown, name: string): number {
  const found = member(value, name);
  if (typeof found !== "number" || !Number.isSafeInteger(found) || found < 0)
    throw wrong(name, "no whole number from 0");
  return found;
}

function readName(value: unknown): string {
  const name = typeof value === "string" ? plainName(value) : undefined;
  if (name === undefined || name !== value) throw wrong("name", "no printable text of 1 to 128 characters");
  return name;
}

function word(value: unknown, name: string): string {
  const found = member(value, name);
  if (typeof found !== "string" || found.length > MAX_WORD || !isPrintable(found))
    throw wrong(name, `no printable text of at most ${MAX_WORD} characters`);
  return found;
}

function listOf<T>(value: unknown, name: string, most: number, read: (one: unknown) => T): readonly T[] {
  const found = isJsonObject(value) ? member(value, name) : undefined;
  if (!Array.isArray(found) || found.length > most) throw wrong(name, `no list of at most ${most}`);
  return found.map(read);
}

function wrong(name: string, what: string): Error {
  return new Error(`${name}: ${what}`);
}
