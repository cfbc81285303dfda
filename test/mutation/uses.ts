/** What each row of a catalogue is used for. A change that no use can show is not a mutant. */
import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import { isUnpublished, type Join, type Operation, type Row, type Shape } from "../../src/model/resource.ts";

export interface Use {
  /** Some operation reads it from a body. */ readonly body: boolean;
  /** A full replace names it, alone and not as a part of a message. */
  readonly update: boolean;
  /** It is shown, and the rewriter shows it (not a function that knows what it makes). */
  readonly answer: boolean;
  /** It stands in a message inside a record, which may be empty (a joined record is not). */
  readonly nested: boolean;
  /** It stands in a message that v2 does not have, or is one: such a message is put together, and shown whole. */
  readonly made: boolean;
  /** A body that holds it sends it on: it stands in no message that is dropped. */
  readonly sent: boolean;
}

/** An enum of a filter: sent, never shown. */
export const NOWHERE: Use = { body: false, update: false, answer: false, nested: false, made: false, sent: false };

/** The shapes of an operation by the property that holds them. */
export function shapesOf(operation: Operation): readonly (readonly [string, Shape])[] {
  const found: (readonly [string, Shape])[] = [];
  if ("answer" in operation) found.push(["answer", operation.answer]);
  if ("body" in operation && operation.body !== undefined) found.push(["body", operation.body]);
  if ("envelope" in operation) found.push(["envelope", { rows: operation.envelope ?? [], v2Only: [] }]);
  return found;
}

/** What each row and each enum of the catalogue is used for. */
export function usesOf({ resources }: Catalogue): ReadonlyMap<object, Use> {
  const uses = new Map<object, Use>();
  const add = (it: object, { body, update, answer, nested, made, sent }: Use): void => {
    const known = uses.get(it) ?? NOWHERE;
    uses.set(it, {
      body: known.body || body,
      update: known.update || update,
      answer: known.answer || answer,
      nested: known.nested || nested,
      made: known.made || made,
      sent: known.sent || sent,
    });
  };
  const addRows = (rows: readonly Row[], given: Use, joins: readonly Join[] = []): void => {
    for (const row of rows) {
      const use = { ...given, update: given.update && isSent(row), made: given.made || isMade(row) };
      // Bodies ignore it before its type is judged.
      add(row, isUnpublished(row) ? { ...use, body: false } : use);
      if (row.kind === "enum") add(row.values, { ...use, body: use.body && isSent(row) });
      const nested = use.nested || (use.answer && !joins.some(({ v1 }) => v1 === row.v1));
      if (row.kind === "message") addRows(row.rows, { ...insideOf(row, use), nested });
      if (row.kind === "map" && typeof row.of === "object") addRows(row.of.rows, { ...use, nested, update: false });
    }
  };
  for (const { operations } of resources) {
    for (const operation of operations) {
      for (const [name, { rows }] of shapesOf(operation)) {
        addRows(rows, useOf(operation, name), "joins" in operation ? operation.joins : []);
      }
      if ("filters" in operation) {
        for (const filter of operation.filters ?? []) if (filter.use === "enum") add(filter.values, NOWHERE);
      }
    }
  }
  return uses;
}

/** What the server sets is dropped from bodies, but for its type. */
function isSent(row: Row): boolean {
  return row.access !== "output" && row.mask !== "never";
}

function isMade(row: Row): boolean {
  return row.kind === "message" && row.v2 === null;
}

/** A mask names the rows of a message one by one, or the message whole. */
function insideOf(row: Row, use: Use): Use {
  return {
    ...use,
    sent: use.sent && isSent(row),
    update: use.update && row.access !== "output" && row.mask === "members",
  };
}

/** A summary is made by the function that counts, member by member: of its rows only the names are read. */
function useOf(operation: Operation, shape: string): Use {
  const made = "by" in operation && operation.by === "summarise";
  if (shape !== "body") return { ...NOWHERE, answer: !made };
  return { ...NOWHERE, body: true, sent: true, update: operation.kind === "update" };
}
