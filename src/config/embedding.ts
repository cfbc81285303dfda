/** What is wrong with that which a program gives beside its configuration? (A caller in JavaScript has no compiler to tell.) */
import { didYouMean, type Fault, nearest } from "./fault.ts";
import { show } from "./issue.ts";
import { asInFile } from "./object.ts";

const NAMES = ["log", "onRequest"] as const;

/** `options`: as somebody gave them, whatever their type says. */
export function optionFaults(options: unknown): readonly Fault[] {
  if (!isObject(options) || Array.isArray(options))
    return [{ where: "options", what: got(options), remedy: "expected an object with log and onRequest, or nothing" }];
  const faults: Fault[] = Object.keys(options)
    .filter((key) => !NAMES.some((name) => name === key))
    .map((key) => ({
      where: `options.${key}`,
      what: "there is no such option",
      remedy: didYouMean(nearest(key, NAMES)),
    }));
  const { log, onRequest }: { readonly log?: unknown; readonly onRequest?: unknown } = options;
  if (!(log === undefined || typeof log === "function" || (isObject(log) && isWritable(log)))) {
    const remedy = "expected a function that takes a line, or a stream to write to";
    faults.push({ where: "options.log", what: got(log), remedy });
  }
  if (!(onRequest === undefined || typeof onRequest === "function")) {
    const remedy = "expected a function that takes a request";
    faults.push({ where: "options.onRequest", what: got(onRequest), remedy });
  }
  return faults;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isWritable(value: { readonly write?: unknown }): boolean {
  return typeof value.write === "function";
}

function got(value: unknown): string {
  return `got ${show(asInFile(value, []))}`;
}
