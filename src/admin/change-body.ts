/** Bodies of the changes that the admin port takes. Each function throws `Problem` INVALID_BODY for anything else. */
import { isJsonObject, parsedJson } from "../model/json.ts";
import { Problem } from "../model/problem.ts";
import { withoutTokens } from "../model/secrets.ts";
import { isPrintable, plainName } from "../model/text.ts";
import { type ForceCommand, ForceCommands, type ForceNote, LONGEST_BY, LONGEST_REASON } from "../rules/status.ts";

/** The members of a body that has no others than `names`; empty for any other body. */
function membersOf(body: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  const value = typeof body === "string" ? parsedJson(body) : undefined;
  return isJsonObject(value) && Object.keys(value).every((name) => names.includes(name)) ? value : {};
}

export function confirmedRuleOf(body: unknown): string {
  const { rule } = membersOf(body, ["rule"]);
  if (typeof rule === "string") return rule;
  throw new Problem("INVALID_BODY", 'this takes {"rule":"NAME"}', { options: [] });
}

export function forceOf(body: unknown): { readonly command: ForceCommand; readonly note: ForceNote } {
  const { force, reason, by } = membersOf(body, ["force", "reason", "by"]);
  const command = ForceCommands.options.find((one) => one === force);
  if (command === undefined) {
    const what = 'this takes {"force":"native"} or {"force":"none"}, and where you like "reason" and "by"';
    throw new Problem("INVALID_BODY", what, { options: [] });
  }
  return {
    command,
    note: {
      ...(reason === undefined ? {} : { reason: noteOf("reason", reason, LONGEST_REASON) }),
      ...(by === undefined ? {} : { by: noteOf("by", by, LONGEST_BY) }),
    },
  };
}

/** Without secrets: it is stored, and shown to all who may read. */
function noteOf(name: string, text: unknown, most: number): string {
  if (typeof text === "string" && text !== "" && text.length <= most && isPrintable(text)) return withoutTokens(text);
  throw new Problem("INVALID_BODY", `${name}: expected one printable line of 1 to ${most} characters`, { options: [] });
}

export function forgottenClientOf(body: unknown): string {
  const client = membersOf(body, ["client"])["client"];
  if (typeof client === "string" && plainName(client) === client) return client;
  throw new Problem("INVALID_BODY", 'this takes {"client":"NAME"}, a name as /clients shows it', { options: [] });
}
