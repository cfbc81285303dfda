/** How are names of resources put into sentences? */

/** `identity` → `identities`. */
export function plural(name: string): string {
  return name.endsWith("y") ? `${name.slice(0, -1)}ies` : `${name}s`;
}

/** `identity` → `an identity`. */
export function article(name: string): string {
  return `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
}
