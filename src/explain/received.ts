/** What does the request look like behind the listener, and is it let in? (The gate and the fields of `listener/`, asked the same.) */
import type { Config } from "../config.ts";
import { judge } from "../listener/gate.ts";
import { Fate, readHead } from "../listener/head.ts";
import type { Problem } from "../model/problem.ts";
import type { AskedRequest } from "./request.ts";

export interface Received {
  /** Base path taken off, fields of the connection left out. */
  readonly request: AskedRequest;
  /** Why it is refused before anything is routed. */
  readonly problem: Problem | undefined;
}

/** What stands in a pasted line for a token that the line does not hold. (Bounded: an opening one is not looked for to the end.) */
const PLACEHOLDER =
  /\$\([^)]{0,200}\)|\$\{[^}]{0,200}\}|\$\w+|`[^`]{0,200}`|<[^>]{0,200}>|\[[^\]]{0,200}\]|…|\.{3}|\*+/g;

/** `asked` as the rest of carryover would see it. */
export function receive(asked: AskedRequest, { listen, limits }: Pick<Config, "listen" | "limits">): Received {
  const given = asked.headers.map(([name, value]): readonly [string, string] =>
    name === "authorization" ? [name, value.replaceAll(PLACEHOLDER, "token")] : [name, value],
  );
  const hasHost = given.some(([name]) => name === "host");
  const raw = [...(hasHost ? [] : [["host", "carryover"] as const]), ...given].flat();
  const head = readHead(raw);
  const fields = head.names.map((name, index) => [name, head.raw[2 * index + 1] ?? ""] as const);
  const headers = fields.filter((_, index) => {
    const fate = head.fates[index];
    return fate === Fate.KEEP || fate === Fate.REQUEST_ID || fate === Fate.TRACE;
  });
  const { method, target } = asked;
  return {
    request: { ...asked, ...belowBase(asked, listen.basePath), headers },
    problem: judge({ method, target, httpVersion: "1.1", head }, limits),
  };
}

/** Requests are often written as the API has them, without the path that stands before it here. */
function belowBase({ target, notes }: AskedRequest, basePath: string): Pick<AskedRequest, "target" | "notes"> {
  if (basePath === "") return { target, notes };
  const rest = target.slice(basePath.length);
  if (target.startsWith(basePath) && /^[/?]/.test(rest)) return { target: rest, notes };
  return { target, notes: [...notes, `listen.basePath is ${basePath}: clients write it in front of the path`] };
}
