/** Does `skip` skip? */
import type { Api } from "../api.ts";
import { type Finding, sayFor } from "../finding.ts";
import { byLength, type List, type Page, type Probe, readPage } from "../first-pages.ts";

const say = sayFor("skip");
const STEP = 2;
/** Other writers may come between; more often than this is no chance. */
const TRIES = 3;

export const skip: Probe = {
  id: "skip",
  asks: "Is the page behind skip=2 the one that the first page's token leads to?",
  run: async (subject) => {
    const list = byLength(subject).find(({ page }) => page.records.length > STEP);
    if (list === undefined)
      return [say.skipped("no list has three records", "check with a token that can read a longer list")];
    for (let left = TRIES; ; left--) {
      const { finding, sure } = judge(list.resource.name, await read(subject.api, list));
      if (sure || left === 1) return [finding];
    }
  },
};

interface Pages {
  readonly first: Page | undefined;
  readonly byToken: Page | undefined;
  readonly bySkip: Page | undefined;
}

async function read(api: Api, list: List): Promise<Pages> {
  const first = await readPage(api, list, { size: STEP });
  const token = first?.nextPageToken ?? "";
  const byToken = token === "" ? undefined : await readPage(api, list, { size: STEP, token });
  return { first, byToken, bySkip: await readPage(api, list, { size: STEP, skip: STEP }) };
}

function judge(name: string, { first, byToken, bySkip }: Pages): { readonly finding: Finding; readonly sure: boolean } {
  const alone =
    "lists are read by their tokens, one page after another: long ones take longer, and are proved only with upstream.v2.tokens: keyset (see tokens)";
  if (first === undefined || byToken === undefined) {
    return { finding: say.skipped(`${name}: a page of ${STEP} has no usable token`, "see lists"), sure: false };
  }
  if (bySkip === undefined) return { finding: say.warn(`${name}: skip is refused`, alone), sure: true };
  if (same(bySkip, byToken)) {
    if (bySkip.skipped === STEP || bySkip.skipped === undefined)
      return { finding: say.ok(`${name}: honoured`), sure: true };
    const finding = say.warn(
      `${name}: honoured, but \`skipped\` says ${bySkip.skipped}`,
      `such a jump cannot be trusted: ${alone}`,
    );
    return { finding, sure: true };
  }
  if (same(bySkip, first)) return { finding: say.warn(`${name}: ignored`, alone), sure: true };
  return { finding: say.warn(`${name}: skip leads elsewhere than the token does, ${TRIES} times`, alone), sure: false };
}

function same(a: Page, b: Page): boolean {
  return a.uids.length > 0 && a.uids.join("\n") === b.uids.join("\n");
}
