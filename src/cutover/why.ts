/** In which words is it told why a rule took a request, or did not? */
import type { Rule, RuleMatch } from "../model/rules.ts";
import type { Canary, Signs } from "./canary.ts";
import type { Subject } from "./subject.ts";

/** Why a rule is not about a request: the first of resource, operation, client, expiry and time that does not hold. */
export function whyNot(
  { match, expires }: Rule,
  { resource, operation, write, guessed, client, at }: Subject & { readonly client: string; readonly at: number },
): string {
  const { resources, operations, clients } = match;
  if (resources !== undefined && !resources.has(resource)) return `resource is ${resource}, not ${anyOf(resources)}`;
  if (operations !== undefined && !operations.has(operation) && !operations.has(write ? "writes" : "reads")) {
    return `operation is ${operation} (${write ? "a write" : "a read"}), not ${anyOf(operations)}`;
  }
  if (guessed === true && operations?.has(operation) !== true)
    return `${operation} is guessed, and it does not name it`;
  if (clients !== undefined && !clients.has(client)) return `client is ${client}, not ${anyOf(clients)}`;
  if (expires !== undefined && at >= expires) return `expired on ${new Date(expires).toISOString()}`;
  return `${new Date(at).toISOString()} is outside its time`;
}

/** What header, cookie and percentage said. Header and cookie values are not repeated, except `never` and the rule's own. */
export function whyCanary(match: RuleMatch, canary: Canary, signs: Signs): string {
  const { header, cookie, percent } = match;
  switch (canary.by) {
    case "all":
      return "everything it asks for holds";
    case "header":
      return `header ${header?.name} is ${canary.taken ? header?.value : "never"}`;
    case "cookie":
      return `cookie ${cookie?.name} is ${canary.taken ? cookie?.value : "never"}`;
    case "percent":
      return `client is in bucket ${signs.bucket().toFixed(4)}, ${canary.taken ? "below" : "not below"} ${percent}`;
    case "unselected":
      return `${[header && `header ${header.name}`, cookie && `cookie ${cookie.name}`].filter(Boolean).join(" and ")} did not select it, and it has no percentage`;
    default:
      return canary satisfies never;
  }
}

function anyOf(names: ReadonlySet<string>): string {
  return [...names].join(" or ");
}
