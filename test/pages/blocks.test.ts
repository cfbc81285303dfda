/** Is every shell block of the pages run somewhere? (Here, by the runbook's walkthrough, or by a step of CI; at most five are excepted.) */
import { describe, expect, it } from "vitest";
import { stepsOf } from "./commands.ts";
import { bare, EXCEPTED, isExcepted, isStepOfCi, MOST } from "./excepted.ts";
import { isShell, type Page } from "./page.ts";
import { pagesToFollow, ROOT } from "./pages.ts";
import { WALKED } from "./run-page.ts";

const pages = pagesToFollow();
const { readRunbook } = await import(new URL(`file://${ROOT}/scripts/walkthrough/runbook.mjs`).href);

/** What begins a line that people would paste into a shell. */
const COMMAND =
  /^(?:\$ |(?:sudo |npx )|(?:npm|curl|helm|kubectl|docker|podman|buildah|export|systemctl|promtool|git|node|mkdir|openssl) [\w./-]|(?:npx )?carryover (?:serve|demo|sandbox|check|explain|report)(?:$| +[-'"]| +https?:))/;

function commandsOf(page: Page): readonly string[] {
  return stepsOf(page).flatMap((step) => (step.kind === "command" ? [bare(step.text)] : []));
}

describe("shell blocks", () => {
  it.each(pages.map((page) => ({ name: page.name, page })))("of $name are commands that bash takes", ({ page }) => {
    expect(() => stepsOf(page)).not.toThrow();
  });

  it("say that they are: what looks like a command stands in a block of sh or console", () => {
    const silent = pages.flatMap(({ name, blocks }) =>
      blocks.flatMap(({ language, lines, line }) => {
        const found = ["", "text", "txt"].includes(language) ? lines.findIndex((one) => COMMAND.test(one)) : -1;
        return found === -1
          ? []
          : [`${name}:${line + 1 + found}: write \`\`\`sh or \`\`\`console before "${lines[found]}"`];
      }),
    );
    expect(silent).toEqual([]);
  });

  it("are marked as notes, which nobody runs, on no page", () => {
    const notes = pages.flatMap(({ name, blocks }) =>
      blocks.flatMap((block) =>
        isShell(block) && block.rest !== "" && name !== WALKED
          ? [`${name}:${block.line}: \`\`\`${block.language} ${block.rest}`]
          : [],
      ),
    );
    expect(notes).toEqual([]);
  });

  it("of the runbook are run by its walkthrough, all of them but the notes, which are run here", () => {
    const runbook = pages.find(({ name }) => name === WALKED);
    if (runbook === undefined) throw new Error(`there is no ${WALKED}`);
    const text = [...runbook.prose];
    for (const { language, rest, lines, line } of runbook.blocks) {
      text.splice(line - 1, lines.length + 2, `\`\`\`${language}${rest === "" ? "" : ` ${rest}`}`, ...lines, "```");
    }
    const { steps, every } = readRunbook(text.join("\n")) as {
      steps: readonly { blocks: readonly { kind: string; line: number }[] }[];
      every: ReadonlyMap<string, { blocks: readonly { kind: string; line: number }[] }>;
    };
    const walked = [...steps, ...every.values()].flatMap(({ blocks }) =>
      blocks.filter(({ kind }) => kind === "sh").map(({ line }) => line),
    );
    const there = runbook.blocks.filter((block) => isShell(block) && block.rest !== "note").map(({ line }) => line);
    expect(walked.toSorted((a, b) => a - b)).toEqual(there);
    expect(there.length).toBeGreaterThan(20);
  });
});

describe("commands that these tests leave out", () => {
  const all = pages.flatMap(commandsOf);

  it("are at most five, each on some page and with a reason", () => {
    expect(all.filter(isExcepted).length).toBeLessThanOrEqual(MOST);
    expect(
      EXCEPTED.filter(({ command }) => !all.some((text) => text.startsWith(command))).map(
        ({ command }) => `${command}: on no page`,
      ),
    ).toEqual([]);
    expect(EXCEPTED.filter(({ why }) => why.length < 30)).toEqual([]);
  });

  it("are none that CI runs by itself anyway", () => {
    expect(EXCEPTED.filter(({ command }) => isStepOfCi(command))).toEqual([]);
  });

  it("are left to CI only where it has such a step", () => {
    expect(isStepOfCi("npm ci && npm test")).toBe(true);
    expect(isStepOfCi("npm run walkthrough")).toBe(true);
    expect(isStepOfCi("npm run walkthrough", new Set(["test"]))).toBe(false);
    expect(isStepOfCi("npm run nothing")).toBe(false);
    expect(isStepOfCi("npm run bench -- --only list")).toBe(false);
    expect(isStepOfCi("npx carryover serve")).toBe(false);
  });
});
