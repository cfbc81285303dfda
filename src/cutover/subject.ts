/** Which rules are about an operation of a resource? */
import type { Rule, RuleMatch } from "../model/rules.ts";

/** Names of the groups of operations. */
export const READS = "reads";
export const WRITES = "writes";

/** What is asked for, whoever asks. */
export interface Subject {
  readonly resource: string;
  readonly operation: string;
  /** True when it changes something. */
  readonly write: boolean;
  /** v1's answer is a guess, and native v1 is there: only rules that name the operation are about it. */
  readonly guessed?: boolean | undefined;
}

/** True when resource and operation of `match` include what is asked for. */
export function isAbout(
  { resources, operations }: RuleMatch,
  { resource, operation, write, guessed }: Subject,
): boolean {
  if (resources !== undefined && !resources.has(resource)) return false;
  if (guessed === true) return operations?.has(operation) === true;
  return operations === undefined || operations.has(operation) || operations.has(write ? WRITES : READS);
}

/** By operation, reads and writes apart; `others` are those that no rule names. */
interface Shelf {
  readonly named: ReadonlyMap<string, readonly [reads: readonly Rule[], writes: readonly Rule[]]>;
  readonly others: readonly [reads: readonly Rule[], writes: readonly Rule[]];
}

/** The rules about a subject, in their order, worked out beforehand for every name that a rule names and for all others. */
export function indexRules(rules: readonly Rule[]): (subject: Subject) => readonly Rule[] {
  const resources = new Set(rules.flatMap(({ match }) => [...(match.resources ?? [])]));
  const operations = new Set(rules.flatMap(({ match }) => [...(match.operations ?? [])]));
  const shelfOf = (ofResource: (match: RuleMatch) => boolean): Shelf => {
    const here = rules.filter(({ match }) => ofResource(match));
    const sides = (name: string | undefined): Shelf["others"] => {
      const about = (group: string) =>
        here.filter(({ match: { operations: all } }) => {
          return all === undefined || all.has(group) || (name !== undefined && all.has(name));
        });
      return [about(READS), about(WRITES)];
    };
    return { named: new Map([...operations].map((name) => [name, sides(name)])), others: sides(undefined) };
  };
  const shelves = new Map(
    [...resources].map((name) => [
      name,
      shelfOf((match) => match.resources === undefined || match.resources.has(name)),
    ]),
  );
  const rest = shelfOf((match) => match.resources === undefined);
  return (subject) => {
    const { resource, operation, write, guessed } = subject;
    const shelf = shelves.get(resource) ?? rest;
    const about = (shelf.named.get(operation) ?? shelf.others)[write ? 1 : 0];
    return guessed === true ? about.filter(({ match }) => isAbout(match, subject)) : about;
  };
}
