/** Which commands of the pages are not run by these tests, and why? */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./pages.ts";

export interface Exception {
  /** How it begins, as it stands on a page. */
  readonly command: string;
  readonly why: string;
}

/** At most five commands of all pages, and none that is on no page. */
export const EXCEPTED: readonly Exception[] = [
  {
    command: "kubectl --namespace legacy exec deploy/shop-carryover --",
    why: "needs pods that run in a cluster: a control plane without nodes starts none. docs/report.md runs the same command elsewhere.",
  },
];

/** Whether a command of a page is left out. */
export function isExcepted(text: string): boolean {
  return EXCEPTED.some(({ command }) => text.startsWith(command));
}

/** At most this many commands may stay untried. */
export const MOST = 5;

/** npm scripts that `.ci/run` runs itself, by their names: to run them once more here would only double its time. */
export function stepsOfCi(): ReadonlySet<string> {
  const script = readFileSync(join(ROOT, ".ci/run"), "utf8");
  const steps = [...script.matchAll(/^ *step \S+ (?:bash -c '([^']+)'|(.+))$/gm)].map(
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );
  const names = steps.flatMap((step) => [
    ...[...step.matchAll(/npm run (?:--silent )?(\w+)/g)].map(([, name]) => name ?? ""),
    ...(/\bnpm test\b/.test(step) ? ["test"] : []),
  ]);
  // `real NAME` gets the tools of that name and runs the npm script of that name.
  const real = [...script.matchAll(/^ *real (\w+)$/gm)].map(([, name]) => name ?? "");
  return new Set([...names, ...real]);
}

/** What a command is without its comment. */
export function bare(command: string): string {
  return command.replace(/\s+#\s.*$/s, "").trim();
}

/** Whether `.ci/run` runs this very command as one of its steps. */
export function isStepOfCi(command: string, steps: ReadonlySet<string> = stepsOfCi()): boolean {
  const text = bare(command);
  if (text === "npm ci && npm test" || text === "npm test") return steps.has("test");
  // What `npm run check` consists of.
  if (text === "npm run check") return ["lint", "types", "test"].every((name) => steps.has(name));
  const [, name, tools] =
    /^npm run (?:--silent )?(\w+)(?: -- --quick)?$|^scripts\/install-(\w+)-tools\.sh$/.exec(text) ?? [];
  return steps.has(name ?? tools ?? "");
}
