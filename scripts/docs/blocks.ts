/** Replaces what stands between `<!-- name -->` and `<!-- end -->` on a page. */

/** A block that differs from `body` only in what `same` leaves out stays as it is. */
export function withBlock(page: string, name: string, body: string, same = (text: string) => text): string {
  const pattern = new RegExp(`(<!-- ${name} -->\\n)([\\s\\S]*?)(<!-- end -->)`);
  const [, , before] = pattern.exec(page) ?? [];
  if (before === undefined) throw new Error(`the page has no block ${name}`);
  const now = `\n${body}\n\n`;
  return same(before) === same(now) ? page : page.replace(pattern, (_all, open, _old, end) => `${open}${now}${end}`);
}

/** For `same`: numbers of a run depend on the sandbox's records and on the clock. */
export function upToNumbers(text: string): string {
  return text.replaceAll(/\d+/g, "0");
}
