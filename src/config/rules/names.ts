/** Which resources and operations does a rule name? */
import { didYouMean, nearest } from "../fault.ts";

/** A resource as rules may name it. */
export interface ResourceNames {
  readonly name: string;
  /** Collection segments of its v1 and v2 paths. */
  readonly aliases: readonly string[];
  readonly operations: readonly { readonly name: string; readonly write: boolean }[];
}

interface Remark {
  readonly what: string;
  readonly remedy: string;
}

/** The resource called `text`, by name before alias; or what is wrong with the name. */
export function resourceNamed(text: string, all: readonly ResourceNames[]): ResourceNames | Remark {
  const exact = all.find(({ name }) => name === text);
  const found = exact === undefined ? all.filter(({ aliases }) => aliases.includes(text)) : [exact];
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) {
    const names = found.map(({ name }) => name);
    return { what: `${text} may be ${names.join(" or ")}`, remedy: "write the name that is meant" };
  }
  const known = all.flatMap(({ name, aliases }) => [name, ...aliases]);
  const near = nearest(text, known);
  return {
    what: `there is no resource ${JSON.stringify(text)}`,
    remedy: near === undefined ? `name one of ${all.map(({ name }) => name).join(", ")}` : didYouMean(near),
  };
}

/** What is wrong with the operation or group called `text` in a rule about `resources`; undefined when one of them has it. */
export function operationFault(text: string, resources: readonly ResourceNames[]): Remark | undefined {
  const operations = resources.flatMap((resource) => resource.operations);
  if (text === "reads" || text === "writes") {
    if (operations.some(({ write }) => write === (text === "writes"))) return undefined;
  } else if (operations.some(({ name }) => name === text)) {
    return undefined;
  }
  const known = [...new Set(operations.map(({ name }) => name))];
  const whose = resources.length === 1 ? resources[0]?.name : "these resources";
  const near = nearest(
    text,
    known.concat("reads", "writes").filter((name) => name !== text),
  );
  return {
    what: `${whose} ${resources.length === 1 ? "has" : "have"} no operation ${JSON.stringify(text)}`,
    remedy: near === undefined ? `name one of ${known.join(", ")}` : didYouMean(near),
  };
}
