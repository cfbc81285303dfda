/** Uids and times of the examples. */

/** A root group. */
export const ORG = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
/** A group in it. */
export const GROUP = `${ORG}/1122334455667788`;
export const IDENTITY = `${ORG}/aabbccddeeff0011`;
/** A built-in role: at the root. */
export const ROLE = "f00dcafe00112233445566778899aabbccddeeff";
export const CREATED = "2026-03-01T09:30:00.000Z";
export const UPDATED = "2026-04-02T10:45:30.250Z";
/** The same in a query. */
export const ORG_GROUP_QUERY = `${ORG}%2F1122334455667788`;
/** A repo of a group. */
export const REPO = `${GROUP}/cafe0000cafe0000`;

/** The error of both versions for a record that does not exist. */
export function notFound(message: string) {
  return { code: 5, message, details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "NOT_FOUND" }] };
}

/** The error of both versions for wrong fields; `said`: the first one, as the message spells it. */
export function invalid(said: string, ...fieldViolations: { readonly field: string; readonly description: string }[]) {
  const details = [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations }];
  return { code: 3, message: `Invalid argument: ${said}: ${fieldViolations[0]?.description}`, details };
}
