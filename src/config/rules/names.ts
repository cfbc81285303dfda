/** Which resources and operations does a rule name? */
import { didYouMean, nearest } from "../fault.ts";

/** A resource as rules may name it. */
export interface ResourceNames {
  readonly name: string;
  /** Collection segments of its v1 and v2 paths. */
  readonly aliases: readonly string[];
  readonly operations: readonly { readonly name: string; readonly write: boolean; readonly guessed?: boolean }[];
}

interface Words {
  readonly what: string;
  readonly remedy: string;
}

/** Says what is wrong. To find the name that is most like one takes time, and few of very many faults are told. */
export type UntoldWords = () => Words;

/** The resource called `text`, by name before alias; or what is wrong with the name. */
export function resourceNamed(text: string, all: readonly ResourceNames[]): ResourceNames | UntoldWords {
  const exact = all.find(({ name }) => name === text);
  const found = exact === undefined ? all.filter(({ aliases }) => aliases.includes(text)) : [exact];
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  return () => (only === undefined ? unknownResource(text, all) : ambiguous(text, found));
}

function ambiguous(text: string, found: readonly ResourceNames[]): Words {
  const names = found.map(({ name }) => name);
  return { what: `${text} may be ${names.join(" or ")}`, remedy: "write the name that is meant" };
}

function unknownResource(text: string, all: readonly ResourceNames[]): Words {
  const near = nearest(
    text,
    all.flatMap(({ name, aliases }) => [name, ...aliases]),
  );
  return {
    what: `there is no resource ${JSON.stringify(text)}`,
    remedy: near === undefined ? `name one of ${all.map(({ name }) => name).join(", ")}` : didYouMean(near),
  };
}

/** What is wrong with those operations and groups called `texts` that none of `resources` has. */
export function operationFaults(texts: Iterable<string>, resources: readonly ResourceNames[]): readonly UntoldWords[] {
  const operations = resources.flatMap((resource) => resource.operations);
  const known = new Set(operations.map(({ name }) => name));
  const groups = new Set(operations.map(({ write }) => (write ? "writes" : "reads")));
  const isKnown = (text: string) => (text === "reads" || text === "writes" ? groups.has(text) : known.has(text));
  const whose = resources.length === 1 ? `${resources[0]?.name} has` : "these resources have";
  return [...texts]
    .filter((text) => !isKnown(text))
    .map((text) => () => {
      const near = nearest(
        text,
        [...known, "reads", "writes"].filter((name) => name !== text),
      );
      return {
        what: `${whose} no operation ${JSON.stringify(text)}`,
        remedy: near === undefined ? `name one of ${[...known].join(", ")}` : didYouMean(near),
      };
    });
}
