/**
 * Prints the files through which a list and a PUT run. Builds a copy of the sources in which every function records its entry, sends both
 * requests through it to the sandbox, and counts files, functions, hops from one file to another, and returns to a file already left: once
 * with each function at its first entry, as a reader meets them, and once with every entry. `--all` prints every step.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parse } from "acorn";
import { full } from "acorn-walk";
import { buildModules } from "./build/modules.mjs";
import { optionsOf } from "./options.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
/** What is learnt of a platform, and compiled when it is first met, is no part of a usual request. */
const WARM = 3;
const REST_MS = 1_500;

const { all } = optionsOf({ all: { type: "boolean", default: false } }, "node scripts/trace-request.mjs [--all]");

/** `code` with a call of `entered` at the start of every function. */
function instrumented(code, file) {
  const inserts = [];
  full(parse(code, { ecmaVersion: "latest", sourceType: "module" }), (node) => {
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return;
    const name = node.id?.name ?? `line ${code.slice(0, node.start).split("\n").length}`;
    const call = `globalThis.entered?.(${JSON.stringify(file)}, ${JSON.stringify(name)})`;
    const { body } = node;
    if (body.type === "BlockStatement") inserts.push([body.start + 1, `${call};`]);
    else inserts.push([body.start, `(${call}, (`], [body.end, "))"]);
  });
  let text = code;
  // Of two at one place, the one of the outer function, which was met last, comes first at a start and last at an end.
  const sorted = inserts.map((one, index) => [...one, index]).sort(([a, , i], [b, , j]) => b - a || i - j);
  for (const [at, insert] of sorted) text = text.slice(0, at) + insert + text.slice(at);
  return text;
}

const RECORDER = `
let met;
globalThis.entered = (file, name) => met?.push([file, name]);
process.on("message", (begin) => {
  if (begin) met = [];
  else { process.send(met); met = undefined; }
});
process.channel?.unref();
`;

async function build(folder) {
  // By the same path, where `#sandbox` is looked for.
  const modules = join(folder, ".build/modules");
  cpSync(await buildModules(), modules, { recursive: true });
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const name of readdirSync(join(modules, "src"), { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".js")) continue;
    const path = join(modules, "src", name);
    writeFileSync(path, instrumented(readFileSync(path, "utf8"), name));
  }
  writeFileSync(join(folder, "recorder.mjs"), RECORDER);
}

const children = [];

async function start(words, pattern, stream) {
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe", "ipc"] });
  children.push(child);
  let text = "";
  for await (const chunk of child[stream].setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    text += chunk;
    const match = pattern.exec(text);
    if (match === null) continue;
    child.stdout.resume();
    child.stderr.resume();
    return { child, match };
  }
  throw new Error(`${words.join(" ")} did not start: ${text}`);
}

/** What one request enters, in order. */
async function traced(child, ask) {
  for (let i = 0; i < WARM; i++) await ask();
  // What is counted and logged behind a request stands at its end, not in the middle of the next one.
  await setTimeout(REST_MS);
  child.send(true);
  await ask();
  await setTimeout(REST_MS);
  child.send(false);
  const [met] = await once(child, "message");
  return met;
}

/** Files, functions, hops from file to file, and returns to a file already left, of `steps` in their order. */
function figures(steps) {
  const left = new Set();
  let hops = 0;
  let returns = 0;
  for (const [index, [file]] of steps.entries()) {
    const before = steps[index - 1]?.[0];
    if (before === undefined || before === file) continue;
    hops += 1;
    left.add(before);
    if (left.has(file)) returns += 1;
  }
  return { files: new Set(steps.map(([file]) => file)).size, hops, returns };
}

function report(what, met) {
  const firsts = [...new Map(met.map((step) => [step.join(" "), step])).values()];
  const first = figures(firsts);
  const every = figures(met);
  console.log(
    `${what}: ${every.files} files, ${firsts.length} functions; at first entries ${first.hops} hops, ${first.returns} returns; ` +
      `at every entry ${every.hops} hops, ${every.returns} returns`,
  );
  if (all)
    for (const [index, [file, name]] of met.entries()) {
      console.log(`  ${file === met[index - 1]?.[0] ? " ".repeat(file.length) : file} ${name}`);
    }
}

const folder = mkdtempSync(join(tmpdir(), "carryover-trace-"));
try {
  await build(folder);
  const sandbox = await start(
    [join(await buildModules(), "src/main.js"), "sandbox", "--listen-port", "0"],
    /at (http:\S+)[\s\S]*TOKEN=(\S+)/,
    "stdout",
  );
  const [, platform, token] = sandbox.match;
  const options = { "listen-host": "127.0.0.1", "listen-port": 0, "admin-port": 0, "upstream-v2-url": platform };
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const recorder = pathToFileURL(join(folder, "recorder.mjs")).href;
  const words = ["--import", recorder, join(folder, ".build/modules/src/main.js"), "serve", ...flags];
  const { child, match } = await start(words, /v1 clients at (\S+),/, "stderr");
  const headers = { authorization: `Bearer ${token}` };
  const ask = async (method, path, body) => {
    const response = await fetch(match[1] + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const { items } = await ask("GET", "/iam/v1/groups");
  const { id, name } = items[1];
  report("a list of one page", await traced(child, () => ask("GET", `/iam/v1/groups?name=${name}`)));
  report("a PUT", await traced(child, () => ask("PUT", `/iam/v1/groups/${id}`, { name, description: "d" })));
} finally {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
