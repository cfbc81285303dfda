import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../scripts/command.ts";
import { allMetrics } from "../../scripts/docs/metrics.ts";
import { configOptions } from "../../src/config/config.ts";
import { PROBLEMS } from "../../src/model/problem.ts";
import { pagesToFollow, ROOT } from "./pages.ts";

/** Programs whose flags are their own matter. */
const OTHERS =
  /\b(?:amtool|helm|kubectl|vitest|npm|npx vitest|curl|envoy|promtool|prometheus|docker|podman|buildah|nginx|haproxy|caddy|systemctl|systemd|git|node|etcd|wrk|openssl|journalctl|vegeta|release\.mjs|run\.mjs)\b|scripts\//i;
const COMMANDS = [
  "serve",
  "demo",
  "sandbox",
  "check",
  "explain",
  "status",
  "gate",
  "events",
  "force",
  "confirm",
  "forget",
  "way-out",
  "exam",
  "letter",
  "report",
  "replay",
];
const FLAG = /(?<![\w-])--[a-z][a-z0-9-]*/g;

const pages = pagesToFollow();
const code = pages.flatMap((page) =>
  page.code.map(({ text, line }) => {
    // A sentence goes over several lines.
    const around = [page.name, ...page.prose.slice(Math.max(0, line - 3), line + 1)].join("\n");
    return { at: `${page.name}:${line}`, text, around };
  }),
);
const commands = pages.flatMap((page) =>
  page.blocks.flatMap(({ lines, line }) =>
    lines.map((text, index) => ({ at: `${page.name}:${line + 1 + index}`, text })),
  ),
);

const everyLine = [
  ...pages.flatMap(({ name, prose }) => prose.map((text, index) => ({ at: `${name}:${index + 1}`, text }))),
  ...commands,
];

/** Every flag that a command of carryover has, as its help says. */
async function flags(): Promise<ReadonlySet<string>> {
  let text = "--tour --help --version ";
  for (const command of COMMANDS) {
    const { code, out } = await runCommand([command, "--help"]);
    expect(code).toBe(0);
    text += out;
  }
  return new Set(text.match(FLAG) ?? []);
}

describe("the pages name", () => {
  it("no flag that no command has", async () => {
    const known = await flags();
    expect(known.size).toBeGreaterThan(80);
    const wrong = code
      .filter(({ text, around }) => !OTHERS.test(text) && !OTHERS.test(around))
      .flatMap(({ at, text }) =>
        (text.match(FLAG) ?? []).filter((flag) => !known.has(flag)).map((flag) => `${at}: ${flag}`),
      );
    expect(wrong).toEqual([]);
  });

  it("no npm script that package.json lacks", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const named = [...code, ...commands].flatMap(({ at, text }) =>
      [...text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:-]*)/g)].map(([, name = ""]) => ({ at, name })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ name }) => !(name in scripts)).map(({ at, name }) => `${at}: npm run ${name}`)).toEqual([]);
  });

  it("no name of `npm run real` that it does not know", () => {
    const { stderr } = spawnSync(process.execPath, [join(ROOT, "scripts/real.mjs")], { encoding: "utf8" });
    const known = /\[(.+?)\]/.exec(stderr)?.[1]?.split(" | ") ?? [];
    const named = [...code, ...commands].flatMap(({ text }) =>
      [...text.matchAll(/\bnpm run real -- ([a-z]+)/g)].map(([, name = ""]) => name),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it("no file of the project that is not there", () => {
    const FILE = /^(?:\.\/)?((?:src|test|docs|scripts|helm|deploy|\.ci)\/[\w./-]*)$/;
    const named = code.flatMap(({ at, text }) => {
      const [, file] = FILE.exec(text) ?? [];
      return file === undefined ? [] : [{ at, file }];
    });
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(({ file }) => !existsSync(join(ROOT, file))).map(({ at, file }) => `${at}: ${file}`)).toEqual(
      [],
    );
  });

  it("no option that there is not, nor a branch of one", () => {
    const options = configOptions().map(({ path }) => path);
    const sections = [...new Set(options.map((path) => path.split(".", 1)[0]))];
    const shape = new RegExp(`^(?:${sections.join("|")})\\.[A-Za-z0-9.*]*[A-Za-z0-9*]$`);
    /** Keys of a rule, and values of the chart, that look like options. */
    const others = new Set([
      "shadow.sample",
      "shadow.control",
      "state.enabled",
      "state.existingClaim",
      "state.password",
      "state.password.existingSecret",
      "state.password.key",
      "state.sizeLimit",
      "state.volumeClaim.size",
      "state.volumeClaim.storageClass",
      "state.volumeClaim.accessModes",
    ]);
    const known = (name: string) => {
      const pattern = new RegExp(`^${name.replaceAll(".", "\\.").replaceAll("*", "[A-Za-z0-9]+")}(?:\\.|$)`);
      return others.has(name) || options.some((path) => pattern.test(path));
    };
    const named = code.filter(({ text }) => shape.test(text) && !/\.(?:md|ts|yaml|json)$/.test(text));
    expect(named.length).toBeGreaterThan(200);
    expect(named.filter(({ text }) => !known(text)).map(({ at, text }) => `${at}: ${text}`)).toEqual([]);
  });

  it("no metric that there is not", () => {
    const metrics = [...allMetrics().keys()];
    const known = (name: string) =>
      metrics.some((metric) => metric === name.replace(/_(?:bucket|sum|count)$/, "") || metric.startsWith(`${name}_`));
    const named = everyLine.flatMap(({ at, text }) =>
      [...text.matchAll(/\bcarryover_[a-z0-9_]*[a-z0-9]\b/g)].map(([name]) => ({ at, name })),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter(({ name }) => !known(name)).map(({ at, name }) => `${at}: ${name}`)).toEqual([]);
  });

  it("no error with another status than it has", () => {
    const real = new Map<string, number>(Object.entries(PROBLEMS).map(([reason, { http }]) => [reason, http]));
    const named = everyLine.flatMap(({ at, text }) =>
      [...text.matchAll(/\b(\d{3}) `([A-Z]+_[A-Z_]+|INTERNAL|OVERLOADED)`/g)].map(([, status, reason = ""]) => ({
        at: `${at}: ${status} ${reason}`,
        right: real.get(reason) === Number(status),
      })),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(({ right }) => !right).map(({ at }) => at)).toEqual([]);
  });
});
