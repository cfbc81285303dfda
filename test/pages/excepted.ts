/** Blocks of the pages that these tests do not run, and the reasons. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./pages.ts";

export interface Exception {
  readonly page: string;
  /** How the block begins. */
  readonly begins: string;
  readonly why: string;
  /** The test that tries the same in another way. */
  readonly instead: string;
}

/** Shell blocks that are left out: at most nine, and none that is on no page. */
export const EXCEPTED: readonly Exception[] = [
  {
    page: "helm/README.md",
    begins: "kubectl --namespace legacy exec deploy/shop-carryover --",
    why: "It needs pods that run in a cluster: a control plane without nodes starts none.",
    instead: "test/real/cluster/process.real.ts",
  },
  {
    page: "docs/runbook.md",
    begins: "for pod in $(kubectl",
    why: "It needs pods that run in a cluster: a control plane without nodes starts none.",
    instead: "test/real/chart/emergency.real.ts",
  },
  {
    page: "docs/runbook.md",
    begins: "kubectl --namespace legacy patch configmap",
    why: "It needs a release in a cluster.",
    instead: "test/real/cluster/upgrade.real.ts",
  },
  {
    page: "docs/runbook.md",
    begins: "docker compose exec",
    why: "It needs the containers of deploy/compose.",
    instead: "test/real/image/compose.real.ts",
  },
  {
    page: "docs/runbook.md",
    begins: "carryover force native --token-file /etc/carryover/admin-token",
    why: "It needs the units of deploy/systemd; the page forces by the same command later.",
    instead: "test/commands/status/force.test.ts",
  },
  {
    page: "docs/deploy.md",
    begins: "docker build -t",
    why: "It needs a Docker daemon and the registry of the base images.",
    instead: "test/real/image/run.real.ts",
  },
  {
    page: "docs/deploy.md",
    begins: "cd deploy/compose",
    why: "It needs a Docker daemon, which starts four containers from a registry's images.",
    instead: "test/real/image/compose.real.ts",
  },
  {
    page: "docs/deploy.md",
    begins: "docker compose -f compose.yaml",
    why: "It speaks to the containers of the block before it.",
    instead: "test/real/image/compose.real.ts",
  },
  {
    page: "docs/deploy.md",
    begins: "npm install --global --prefix /usr/local",
    why: "It installs into the machine on which it runs, and needs systemd as its first process.",
    instead: "test/real/image/unit.real.ts",
  },
];

/** Whether a block of a page is left out. */
export function isExcepted(page: string, lines: readonly string[]): boolean {
  return EXCEPTED.some((one) => one.page === page && begin(lines).startsWith(one.begins));
}

function begin([first = ""]: readonly string[]): string {
  return first.replace(/^\$ /, "");
}

/** At most this many blocks may stay untried. */
export const MOST = 9;

/** npm scripts and names of `npm run real` that `.ci/run` runs itself, by their names: to run them once more here would only double its time. */
function stepsOfCi(): ReadonlySet<string> {
  const script = readFileSync(join(ROOT, ".ci/run"), "utf8");
  const steps = [...script.matchAll(/^ *(?:step|suite) \S+ (?:bash -c '([^']+)'|(.+))$/gm)].map(
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );
  const names = steps.flatMap((step) => [
    ...[...step.matchAll(/npm run (?:--silent )?(?:real -- )?(\w+)/g)].map(([, name]) => name ?? ""),
    ...[...step.matchAll(/\bnpm (ci|test)\b/g)].map(([, name]) => name ?? ""),
  ]);
  // `real NAME` runs `npm run real -- NAME`.
  const real = [...script.matchAll(/^ *real (\w+)$/gm)].map(([, name]) => name ?? "");
  return new Set([...names, ...real]);
}

/** What a command is without its comment. */
export function bare(command: string): string {
  return command.replace(/\s+#\s.*$/s, "").trim();
}

/** Whether `.ci/run` runs this very command, or each part of it, as a step of its own. */
export function isStepOfCi(command: string, steps: ReadonlySet<string> = stepsOfCi()): boolean {
  return bare(command)
    .split(" && ")
    .every((part) => isOneStep(part.trim(), steps));
}

function isOneStep(text: string, steps: ReadonlySet<string>): boolean {
  if (text === "npm ci" || text === "npm test") return steps.has(text.slice("npm ".length));
  // What `npm run check` consists of.
  if (text === "npm run check") return ["lint", "types", "test"].every((name) => steps.has(name));
  const step = /^npm run (?:--silent )?(?:real -- )?(\w+)(?: -- --quick)?$|^scripts\/install-(\w+)-tools\.sh$/;
  const [, name, tools] = step.exec(text) ?? [];
  return steps.has(name ?? tools ?? "");
}
