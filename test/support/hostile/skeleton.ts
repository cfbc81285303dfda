/** What is left of a page without its texts: it must not depend on them. */

/** Every tag with the names of its attributes, as a browser would find them; and every address. */
export function skeleton(text: string): { readonly tags: string; readonly addresses: readonly string[] } {
  const addresses: string[] = [];
  const tags = [...text.matchAll(/<[^>]*>?/g)].map(([tag]) => {
    for (const [, address = ""] of tag.matchAll(/\s(?:href|src|action|data-live)="([^"]*)"/g)) addresses.push(address);
    return tag.replace(/="[^"]*"/g, "").replace(/\s+/g, " ");
  });
  return { tags: tags.join("\n"), addresses };
}

/** Characters that reorder, hide or end what surrounds them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
export const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
