/** Reads the arguments of `carryover replay`. */
import { InvalidArgumentError } from "commander";
import { ArgumentError } from "../../config/faults.ts";
import { readAddress } from "../report/arguments.ts";

export function readNumber(least: number, most: number, whole = false): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const isValid = text.trim() !== "" && value >= least && value <= most && (!whole || Number.isInteger(value));
    if (isValid) return value;
    throw new InvalidArgumentError(`expected a ${whole ? "whole " : ""}number from ${least} to ${most}`);
  };
}

/** Records are created, changed and deleted there: it cannot be the platform whose reads are replayed. */
export function readWritesTo(text: string, others: readonly string[]): string {
  const url = readAddress(text);
  if (!others.some((other) => new URL(other).host === new URL(url).host)) return url;
  const what = "this is the platform that the reads go to";
  throw new ArgumentError({ where: "--writes-to", what, remedy: "give the URL of another platform to try writes on" });
}
