/** The two spellings of JSON names: proto3 JSON accepts both. */

/** `claimMatch` → `claim_match`; dots stay. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `claim_match` → `claimMatch`; dots stay. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
