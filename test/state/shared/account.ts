/** The account that docs/scale.md gives operators. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const PAGE = resolve(import.meta.dirname, "../../../docs/scale.md");

/** The words of `ACL SETUSER` after the account's name, without its password. */
export function documentedRights(): readonly string[] {
  const line = /^user carryover on ><password> (.*)$/m.exec(readFileSync(PAGE, "utf8"))?.[1];
  if (line === undefined) throw new Error(`${PAGE} has no line "user carryover on ><password> …"`);
  return line.split(" ");
}
