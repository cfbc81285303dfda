/**
 * Says where each page is tried: in `npm run test:all` if it needs only what every machine has, else in
 * `npm run real -- pages`.
 */
import { stepsOf } from "./commands.ts";
import type { Page } from "./page.ts";
import { pagesToFollow } from "./pages.ts";
import { isTried, WALKED } from "./run-page.ts";
import { isPlain } from "./tools.ts";

export interface Tried {
  readonly name: string;
  readonly page: Page;
}

/** Pages with commands that these tests run. */
export function pagesTried(where: "all" | "docs"): readonly Tried[] {
  return pagesToFollow()
    .map(left)
    .filter((page) => {
      const commands = stepsOf(page).filter((step) => step.kind === "command" && isTried(step));
      return commands.length > 0 && isPlain(commands) === (where === "all");
    })
    .map((page) => ({ name: page.name, page }));
}

/** Of the page that the walkthrough runs, what it leaves out. */
function left(page: Page): Page {
  return page.name === WALKED ? { ...page, blocks: page.blocks.filter(({ rest }) => rest === "note") } : page;
}
