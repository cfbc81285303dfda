/** Finds credentials in recordings of others: a recording that holds one is not used. */
import { isSecretField, isSecretName, MASKED, shownTarget, withoutTokens } from "../model/secrets.ts";

/** Where a credential is: the position of its text, and the name that it has there. */
export interface FoundCredential {
  readonly offset: number;
  readonly name: string;
}

const HIDDEN = /%E2%80%A6/gi;
/** Instead of a value: nothing, or what logs and tools write for a secret. */
const NO_VALUE =
  /^(?:-|null|\*+|…|\[?(?:redacted|removed|masked|hidden)\]?|(?:bearer|basic) (?:…|\*+|\[redacted\]))?$/i;

/** In a request target. */
export function credentialInTarget(target: string): number | undefined {
  const plain = target.replaceAll(HIDDEN, MASKED);
  return firstChange(plain, shownTarget(plain));
}

/** In free text, as the name of a program or an address. */
export function credentialInText(text: string): number | undefined {
  return firstChange(text, withoutTokens(text));
}

/** True for a value under this name that may give access. `field`: it is the name of a header field. */
export function isCredential(name: string, value: string, field: boolean): boolean {
  return !NO_VALUE.test(value.trim()) && (field ? isSecretField(name) : isSecretName(name));
}

/** The position of the first character that is another one. */
function firstChange(text: string, masked: string): number | undefined {
  if (text === masked) return undefined;
  let at = 0;
  while (text[at] === masked[at]) at += 1;
  return at;
}

const MOST_DEPTH = 8;

/** In any member of a JSON value; the name of the first one that holds one. `text`: the whole value as it was read. */
export function credentialInJson(value: unknown, text: string): FoundCredential | undefined {
  const name = nameIn(value, "", 0);
  return name === undefined ? undefined : { name, offset: Math.max(0, text.indexOf(JSON.stringify(name))) };
}

function nameIn(value: unknown, name: string, depth: number): string | undefined {
  if (typeof value === "string") {
    const isTarget = value.startsWith("/") || /^https?:/i.test(value);
    const inside = isTarget ? credentialInTarget(value) : credentialInText(value);
    return inside !== undefined || isCredential(name, value, false) ? name : undefined;
  }
  if (typeof value !== "object" || value === null || depth > MOST_DEPTH) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = nameIn(inner, Array.isArray(value) ? name : key, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
