import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stepsOf } from "./commands.ts";
import { EXCEPTED, isStepOfCi, MOST } from "./excepted.ts";
import { isShell } from "./page.ts";
import { pagesToFollow, ROOT } from "./pages.ts";
import { WALKED } from "./run-page.ts";

const pages = pagesToFollow();
const { readRunbook } = await import(new URL(`file://${ROOT}/scripts/walkthrough/runbook.mjs`).href);

/** What begins a line that people would paste into a shell. */
const COMMAND =
  /^(?:\$ |(?:sudo |npx )|(?:npm|curl|helm|kubectl|docker|podman|buildah|export|systemctl|promtool|git|node|mkdir|openssl) [\w./-]|(?:npx )?carryover (?:serve|demo|sandbox|check|explain|status|gate|force|report)(?:$| +[-'"]| +https?:))/;

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
    const { steps, before } = readRunbook(text.join("\n")) as {
      steps: readonly { actions: readonly { line: number }[] }[];
      before: readonly { line: number }[];
    };
    const walked = new Set([...before, ...steps.flatMap(({ actions }) => actions)].map(({ line }) => line));
    // Commands have lines of their own, a file has that of its block.
    const isWalked = ({ line, lines }: { readonly line: number; readonly lines: readonly string[] }) =>
      walked.has(line) || lines.some((_, index) => walked.has(line + 1 + index));
    const there = runbook.blocks.filter((block) => isShell(block) && block.rest !== "note");
    expect(there.filter((block) => !isWalked(block)).map(({ line }) => line)).toEqual([]);
    expect(there.length).toBeGreaterThan(20);
  });
});

describe("blocks that these tests leave out", () => {
  it("are at most five, each on its page, with a reason and the test that tries the same", () => {
    expect(EXCEPTED.length).toBeLessThanOrEqual(MOST);
    const there = EXCEPTED.map(({ page, begins }) =>
      pages.flatMap(({ name, blocks }) =>
        blocks.filter(({ lines }) => name === page && (lines[0] ?? "").replace(/^\$ /, "").startsWith(begins)),
      ),
    );
    // One entry, one block: neither gone nor several.
    expect(there.map((blocks, index) => [EXCEPTED[index]?.begins, blocks.length])).toEqual(
      EXCEPTED.map(({ begins }) => [begins, 1]),
    );
    expect(EXCEPTED.filter(({ why }) => why.length < 30)).toEqual([]);
    expect(EXCEPTED.filter(({ instead }) => !existsSync(join(ROOT, instead)))).toEqual([]);
  });

  it("are none of those that CI runs as a step of its own, where it has that step", () => {
    expect(isStepOfCi("npm ci && npm test")).toBe(true);
    expect(isStepOfCi("npm ci && npm run check")).toBe(true);
    expect(isStepOfCi("npm ci && npm start")).toBe(false);
    expect(isStepOfCi("npm run real -- walkthrough")).toBe(true);
    expect(isStepOfCi("npm run real -- walkthrough", new Set(["test"]))).toBe(false);
    expect(isStepOfCi("npm run nothing")).toBe(false);
    expect(isStepOfCi("npm run bench -- --only list")).toBe(false);
    expect(isStepOfCi("npx carryover serve")).toBe(false);
  });
});
