/** Resource and operation: what a request asks for. */
import { member } from "../../model/json.ts";
import { didYouMean, nearest } from "../../model/text.ts";
import { oneOrMany, textLike } from "../leaves.ts";
import { anyOf, shownName } from "../words.ts";
import type { Condition, RequestedOperation, RuleCircumstances, RuleRemark } from "./condition.ts";

export interface SubjectMatch {
  /** Catalogue names. Without it: all. */
  readonly resources: ReadonlySet<string> | undefined;
  /** Catalogue names of operations, and the groups `reads` and `writes`. Without it: all. */
  readonly operations: ReadonlySet<string> | undefined;
}

/** Names of the groups of operations. */
const READS = "reads";
const WRITES = "writes";

/** A name that nothing has: it is any name that is not listed. */
const UNLISTED = "\0";

const word = textLike(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);

const schema = {
  resource: oneOrMany(word, "the name of a resource", "resources")
    .optional()
    .describe("Resources, by name or as their paths spell them: group, groups. Without it: all"),
  operation: oneOrMany(word, "an operation, reads or writes", "operations")
    .optional()
    .describe("Operations, by name; reads and writes are groups. Without it: all"),
};

export const subject: Condition<SubjectMatch, typeof schema> = {
  schema,
  build: ({ operation }, resources) => ({ resources, operations: operation && new Set(operation) }),
  // Never silent: what is guessed is for rules that name it.
  holds({ match }) {
    return ({ input }) => isAbout(match, input);
  },
  covers: ({ match }, _inner, operation) => isAbout(match, operation),
  coversByOperation: true,
  words({ resources, operations }) {
    const of = resources && anyOf([...resources].map(shownName));
    if (operations === undefined) return of === undefined ? [] : [of];
    return [`${anyOf([...operations].map(shownName))}${of === undefined ? "" : ` of ${of}`}`];
  },
  view: ({ resources, operations }) => ({
    resources: resources && [...resources],
    operations: operations && [...operations],
  }),
  why({ match: { resources, operations } }, { input: { resource, operation, write } }, taken) {
    if (taken) return undefined;
    if (resources !== undefined && !resources.has(resource)) return `resource is ${resource}, not ${anyOf(resources)}`;
    if (operations === undefined || operations.has(write ? WRITES : READS))
      return `${operation} is guessed, and it does not name it`;
    return `operation is ${operation} (${write ? "a write" : "a read"}), not ${anyOf(operations)}`;
  },
};

/** True when `match` includes the resource and the operation. */
export function isAbout(
  { resources, operations }: SubjectMatch,
  { resource, operation, write, guessed }: RequestedOperation,
): boolean {
  if (resources !== undefined && !resources.has(resource)) return false;
  if (guessed === true) return operations?.has(operation) === true;
  return operations === undefined || operations.has(operation) || operations.has(write ? WRITES : READS);
}

/** Returns a function that returns the rules about an operation, in their order, from an index that is built once. */
export function indexRules<Rule extends { readonly match: SubjectMatch }>(
  rules: readonly Rule[],
): (asked: RequestedOperation) => readonly Rule[] {
  const resources = new Set(rules.flatMap(({ match }) => [...(match.resources ?? [])]));
  const about = (asked: RequestedOperation) => rules.filter(({ match }) => isAbout(match, asked));
  const sides = (resource: string, operation: string) =>
    [false, true].flatMap((write) => [false, true].map((guessed) => about({ resource, operation, write, guessed })));
  const byOperation = (resource: string) =>
    new Map([UNLISTED, ...namedOperations(rules)].map((operation) => [operation, sides(resource, operation)]));
  const byResource = new Map([UNLISTED, ...resources].map((resource) => [resource, byOperation(resource)]));
  return ({ resource, operation, write, guessed }) => {
    const found = byResource.get(resource) ?? byResource.get(UNLISTED);
    const lists = found?.get(operation) ?? found?.get(UNLISTED);
    return lists?.[(write ? 2 : 0) + (guessed === true ? 1 : 0)] ?? [];
  };
}

function namedOperations(rules: readonly { readonly match: SubjectMatch }[]): ReadonlySet<string> {
  return new Set(rules.flatMap(({ match }) => [...(match.operations ?? [])]));
}

/**
 * Returns a function that returns the operations that a rule is about: those of `listed`, and as one more resource what is not
 * listed. An operation of no listed resource concerns only rules that name it.
 */
export function distinguishedOperations(
  rules: readonly { readonly match: SubjectMatch }[],
  listed: readonly RequestedOperation[],
): (match: SubjectMatch) => readonly RequestedOperation[] {
  const unlisted = [UNLISTED, ...namedOperations(rules)].flatMap((operation) =>
    [true, false].map((write) => ({ resource: UNLISTED, operation, write })),
  );
  const all: readonly RequestedOperation[] = [...listed, ...unlisted];
  return (match) =>
    all.filter((asked) => {
      const { resource, operation } = asked;
      const isKnown = resource !== UNLISTED || operation === UNLISTED || match.operations?.has(operation) === true;
      return isKnown && isAbout(match, asked);
    });
}

/** A resource as rules may name it. */
export interface ResourceNames {
  readonly name: string;
  /** Collection segments of its v1 and v2 paths. */
  readonly aliases: readonly string[];
  readonly operations: readonly { readonly name: string; readonly write: boolean; readonly guessed?: boolean }[];
}

type FaultWords = Pick<RuleRemark, "what" | "remedy">;
/** Evaluated only for the faults that are shown: finding the most similar name takes time. */
type LazyFaultWords = () => FaultWords;

/** The names that a rule gives, looked up in the catalogue. */
export interface ReadNames extends Pick<RuleCircumstances, "resources" | "reads"> {
  readonly faults: readonly { readonly key: keyof typeof schema; readonly words: LazyFaultWords }[];
}

/** `given`: `match` of a rule as the file has it, however wrong the rest of the rule is. */
export function readNames(given: unknown, all: readonly ResourceNames[]): ReadNames {
  const unknown = (faults: ReadNames["faults"]): ReadNames => ({ faults, resources: undefined, reads: undefined });
  const names = schema.resource.safeParse(member(given, "resource"));
  const verbs = schema.operation.safeParse(member(given, "operation"));
  if (!names.success || !verbs.success) return unknown([]);
  const faults: ReadNames["faults"][number][] = [];
  const known =
    names.data &&
    [...new Set(names.data)].flatMap((name) => {
      const found = resourceNamed(name, all);
      if (typeof found !== "function") return [found];
      faults.push({ key: "resource", words: found });
      return [];
    });
  if (faults.length > 0) return unknown(faults);
  const resources = known && [...new Set(known)];
  const among = resources ?? all;
  const operations = verbs.data && new Set(verbs.data);
  const reads = among
    .flatMap((resource) => resource.operations)
    .some(({ name, write }) => !write && (operations === undefined || operations.has(name) || operations.has(READS)));
  return {
    faults: operationFaults(operations ?? [], among).map((words) => ({ key: "operation", words })),
    resources: resources && new Set(resources.map(({ name }) => name)),
    reads,
  };
}

/** The resource called `text`, by name before alias; or what is wrong with the name. */
export function resourceNamed(text: string, all: readonly ResourceNames[]): ResourceNames | LazyFaultWords {
  const exact = all.find(({ name }) => name === text);
  const found = exact === undefined ? all.filter(({ aliases }) => aliases.includes(text)) : [exact];
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  return () => (only === undefined ? unknownResource(text, all) : ambiguousResource(text, found));
}

function ambiguousResource(text: string, found: readonly ResourceNames[]): FaultWords {
  const names = found.map(({ name }) => name);
  return { what: `${text} may be ${names.join(" or ")}`, remedy: "write the name that is meant" };
}

function unknownResource(text: string, all: readonly ResourceNames[]): FaultWords {
  const near = nearest(
    text,
    all.flatMap(({ name, aliases }) => [name, ...aliases]),
  );
  return {
    what: `there is no resource ${JSON.stringify(text)}`,
    remedy: near === undefined ? `name one of ${all.map(({ name }) => name).join(", ")}` : didYouMean(near),
  };
}

/** Faults for each of `texts` that names neither an operation of `resources` nor a group. */
function operationFaults(texts: Iterable<string>, resources: readonly ResourceNames[]): readonly LazyFaultWords[] {
  const operations = resources.flatMap((resource) => resource.operations);
  const known = new Set(operations.map(({ name }) => name));
  const groups = new Set(operations.map(({ write }) => (write ? WRITES : READS)));
  const isKnown = (text: string) => (text === READS || text === WRITES ? groups.has(text) : known.has(text));
  const whose = resources.length === 1 ? `${resources[0]?.name} has` : "these resources have";
  return [...texts]
    .filter((text) => !isKnown(text))
    .map((text) => () => {
      const near = nearest(
        text,
        [...known, READS, WRITES].filter((name) => name !== text),
      );
      return {
        what: `${whose} no operation ${JSON.stringify(text)}`,
        remedy: near === undefined ? `name one of ${[...known].join(", ")}` : didYouMean(near),
      };
    });
}
