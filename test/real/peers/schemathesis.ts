/** Runs schemathesis on a document and a server, and reads its findings. */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { later } from "../../end-to-end/app/rig.ts";
import { type Child, spawned } from "../ingress/proxy.ts";

const TOOLS = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/peers");

export interface Campaign {
  /** The OpenAPI document's file. */ readonly document: string;
  readonly url: string;
  readonly token: string;
  /** Values that a path's parameter has often, by the start of the path: `/iam/v1/groups` → uids of groups. */
  readonly known: ReadonlyMap<string, readonly string[]>;
  /** Extra lines of its configuration. */
  readonly config: string;
  readonly seed: number;
  /** Of each operation, in the phase that makes them up. */
  readonly examples: number;
}

export interface Outcome {
  readonly code: number | null;
  readonly said: string;
  readonly operations: number;
  readonly tested: number;
  /** Requests made. */
  readonly cases: number;
  readonly failures: readonly { readonly title: string; readonly operations: readonly string[] }[];
}

/** What its report in JSON says, as far as it is looked at. */
interface Report {
  readonly operations: { readonly total: number; readonly tested: number };
  readonly test_cases: { readonly generated: number };
  readonly failures: Outcome["failures"];
}

/** Runs all its phases; never rejects for what it finds. Throws when it is not installed. */
export async function campaign(choices: Campaign): Promise<Outcome> {
  const python = join(TOOLS, "python");
  if (!existsSync(join(TOOLS, ".versions")))
    throw new Error(`${TOOLS} is not there: run scripts/install-peers-tools.sh`);
  const folder = await mkdtemp(join(tmpdir(), "carryover-schemathesis-"));
  later(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "schemathesis.toml"), configOf(choices));
  const report = join(folder, "report.json");
  const child: Child = spawned(
    "/usr/bin/env",
    [
      ...[`PYTHONPATH=${python}`, "python3", "-m", "schemathesis.cli", "--config-file", "schemathesis.toml"],
      ...["run", choices.document, "--url", choices.url, "--header", `Authorization: Bearer ${choices.token}`],
      ...["--phases", "examples,coverage,fuzzing,stateful", "--seed", String(choices.seed)],
      ...["--max-examples", String(choices.examples), "--workers", "1", "--generation-database", "none"],
      ...["--report", "json", "--report-json-path", report, "--no-color", "--continue-on-failure", "--warnings", "off"],
      // What it makes up for patterns is filtered a lot, which is its own matter.
      ...["--suppress-health-check", "all"],
    ],
    folder,
  );
  const code = await child.ended;
  const said = child.said();
  if (!existsSync(report)) throw new Error(`schemathesis ended with ${code} and no report:\n${said}`);
  const { operations, test_cases, failures } = JSON.parse(await readFile(report, "utf8")) as Report;
  return { code, said, operations: operations.total, tested: operations.tested, cases: test_cases.generated, failures };
}

function configOf({ config, known }: Campaign): string {
  const lines = [config];
  let number = 0;
  for (const [start, values] of known) {
    const name = `known${number++}`;
    lines.push(`[dictionaries.${name}]`, `values = ${JSON.stringify(values)}`);
    lines.push("[[operations]]", `include-path-regex = ${JSON.stringify(`^${start}[/:].*\\{uid\\}`)}`);
    lines.push(`parameters = { "path.uid" = { dictionary = "${name}", probability = 0.7 } }`);
  }
  return `${lines.join("\n")}\n`;
}
