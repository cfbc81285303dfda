/** Reads the arguments of `carryover replay`. */
import { InvalidArgumentError } from "commander";
import { ArgumentError } from "../../config/faults.ts";

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
  const fault = (what: string): ArgumentError =>
    new ArgumentError({
      where: "--writes-to",
      what,
      remedy: "give the URL of a platform to try writes on, http(s)://host[:port][/path]",
    });
  const url = readAddress(text, fault);
  if (others.some((other) => new URL(other).host === new URL(url).host))
    throw fault("this is the platform that the reads go to");
  return url;
}

function readAddress(text: string, fault: (what: string) => ArgumentError): string {
  if (!URL.canParse(text)) throw fault("this is no URL");
  const { protocol, username, password, search, hash, href } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") throw fault("the scheme is neither http nor https");
  if (username !== "" || password !== "") throw fault("the URL holds credentials");
  if (search !== "" || hash !== "") throw fault("the URL holds a query or a fragment");
  return href.replace(/\/+$/, "");
}
