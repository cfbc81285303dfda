import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Ran, ROOT, ran, TOOLS, tool } from "./packed.ts";

const HOME = join(ROOT, ".github");
const WORKFLOWS = readdirSync(join(HOME, "workflows")).map((name) => join(HOME, "workflows", name));
const FORMS = readdirSync(join(HOME, "ISSUE_TEMPLATE"))
  .filter((name) => name !== "config.yml")
  .map((name) => join(HOME, "ISSUE_TEMPLATE", name));

/** What check-jsonschema says of files, by one of the schemas that it brings. */
function judged(schema: string, files: readonly string[]): Promise<Ran> {
  const env = { ...process.env, PYTHONPATH: tool(join(TOOLS, "python")) };
  return ran("python3", ["-m", "check_jsonschema", "--builtin-schema", `vendor.${schema}`, ...files], ROOT, env);
}

/** Programs and actions allowed in a job that may write. */
const OWN_PROGRAMS = new Set(["git", "gh", "cd", "sha256sum", "test"]);
const OWN_ACTIONS = new Set(["actions/checkout", "actions/download-artifact"]);

describe(".github", () => {
  it.each([
    ["github-issue-forms", FORMS],
    ["github-issue-config", [join(HOME, "ISSUE_TEMPLATE/config.yml")]],
    ["dependabot", [join(HOME, "dependabot.yml")]],
    ["github-workflows", WORKFLOWS],
  ])("has files that the host's schema takes: %s", async (schema, files) => {
    expect(await judged(schema, files)).toMatchObject({ code: 0, err: "" });
  });

  it("has workflows in which actionlint finds nothing", async () => {
    expect(await ran(tool(join(TOOLS, "bin/actionlint")), ["-no-color", ...WORKFLOWS], ROOT)).toEqual({
      code: 0,
      out: "",
      err: "",
    });
  });

  it("names each action by a commit, with its version beside it", () => {
    const uses = WORKFLOWS.flatMap((file) => readFileSync(file, "utf8").match(/uses: .*/g) ?? []);
    const foreign = uses.filter((line) => !line.includes("./.github/"));
    expect(foreign.length).toBeGreaterThan(5);
    expect(foreign.filter((line) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  it("runs no installation and no code of the repository in a job that may write", () => {
    type Job = {
      permissions?: Record<string, string> | string;
      steps?: { run?: string; uses?: string }[];
      uses?: string;
    };
    type Workflow = { permissions?: Record<string, string> | string; jobs: Record<string, Job> };
    const writes = (permissions: Job["permissions"]) =>
      permissions !== undefined && /write/.test(JSON.stringify(permissions));
    for (const file of WORKFLOWS) {
      const { permissions, jobs } = parse(readFileSync(file, "utf8")) as Workflow;
      // The default of jobs that name no permissions.
      expect([file, permissions]).toEqual([file, { contents: "read" }]);
      for (const [name, job] of Object.entries(jobs)) {
        if (!writes(job.permissions)) continue;
        expect([file, name, job.uses]).toEqual([file, name, undefined]);
        const steps = job.steps ?? [];
        const programs = steps.flatMap(({ run = "" }) => run.match(/(?<=^|[\n(]|&& )\s*[\w./-]+/g) ?? []);
        expect(programs.map((program) => program.trim()).filter((program) => !OWN_PROGRAMS.has(program))).toEqual([]);
        const actions = steps.flatMap(({ uses }) => uses?.replace(/@.*/, "") ?? []);
        expect(actions.filter((action) => !OWN_ACTIONS.has(action))).toEqual([]);
      }
    }
  });

  it("runs scripts that are there, and asks for what commands print that there are", async () => {
    const workflows = WORKFLOWS.map((file) => readFileSync(file, "utf8")).join("\n");
    const scripts = workflows.match(/(?:scripts\/[\w/.-]+\.(?:mjs|sh)|\.ci\/run)/g) ?? [];
    expect(scripts).toContain(".ci/run");
    expect(scripts).toContain("scripts/release/run.mjs");
    expect(scripts.filter((script) => !existsSync(join(ROOT, script)))).toEqual([]);
    for (const form of FORMS) {
      const { body } = parse(readFileSync(form, "utf8")) as {
        body: readonly { id?: string; attributes: { description?: string } }[];
      };
      expect(body.find(({ id }) => id === "version")?.attributes.description).toContain("`carryover --version`");
    }
    const pages = readFileSync(join(HOME, "PULL_REQUEST_TEMPLATE.md"), "utf8").match(/\btest\/[\w/.-]+/g) ?? [];
    expect(pages.filter((page) => !existsSync(join(ROOT, page)))).toEqual([]);
  });

  it("looks for updates of what there is", () => {
    const { updates } = parse(readFileSync(join(HOME, "dependabot.yml"), "utf8")) as {
      updates: readonly { "package-ecosystem": string; directory: string }[];
    };
    const files = new Map([
      ["npm", /^package-lock\.json$/],
      ["docker-compose", /^compose\.ya?ml$/],
      ["github-actions", /^\.github$/],
    ]);
    const lost = updates.filter(({ "package-ecosystem": kind, directory }) => {
      const wanted = files.get(kind);
      return wanted === undefined || !readdirSync(join(ROOT, directory)).some((name) => wanted.test(name));
    });
    expect(lost).toEqual([]);
  });
});
