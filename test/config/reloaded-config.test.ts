import { expect, test } from "vitest";
import { configSource, createConfigWatch } from "../../src/config/reloaded-config.ts";
import { LOCALHOST } from "../server/support/certificates.ts";

const NOTHING_ELSE = "upstream: { v2: { url: https://a.example, tls: { caFile: ca.pem } } }\n";

/** What is logged when the file `c.yaml` holds `after`, and `ca.pem` another certificate. */
async function logged(after: string) {
  const files = new Map([
    ["c.yaml", NOTHING_ELSE],
    ["ca.pem", LOCALHOST.cert],
    ["other.pem", LOCALHOST.cert],
  ]);
  const readFile = (path: string) => new TextEncoder().encode(files.get(path));
  const source = configSource({ flags: { config: "c.yaml" }, env: {}, readFile });
  if (source === undefined) throw new Error("there is no file");
  const said: unknown[] = [];
  const log = {
    info: (message: string) => said.push(message),
    warn: (message: string, _: undefined, facts: object) => said.push([message, facts]),
    error: (message: string) => said.push(message),
  };
  const config = source.load(source.begin);
  files.set("c.yaml", after);
  files.set("ca.pem", `${LOCALHOST.cert}\n${LOCALHOST.cert}`);
  const watch = createConfigWatch(config, source, {
    read: async (path) => readFile(path),
    later: (_, run) => {
      const timer = setTimeout(run, 0);
      return () => clearTimeout(timer);
    },
    wall: () => 0,
    log,
    record: ({ kind, reason }) => {
      said.push(`${kind}: ${reason}`);
      return "id";
    },
    rename: (names) => said.push(names),
  });
  await watch.start();
  await watch.check();
  watch.close();
  return said;
}

test("a renewed certificate is no change of the configuration; another path is", async () => {
  expect(await logged(`${NOTHING_ELSE}# a comment\n`)).toEqual([]);
  expect(await logged(NOTHING_ELSE.replace("ca.pem", "other.pem"))).toEqual([
    "config: other options wait for a restart: upstream.v2.tls.caFile",
    [
      "the configuration file was changed: some options wait for a restart",
      { options: "upstream.v2.tls.caFile", event: "id" },
    ],
  ]);
});

test("names come into force, and what else was changed is named", async () => {
  const both = `${NOTHING_ELSE}clients: { names: [a=x] }\nlog: { level: warn }\n`;
  expect(await logged(both)).toEqual([
    "config: clients.names has 1 names now; other options wait for a restart: log.level",
    ["the configuration file was changed: some options wait for a restart", { options: "log.level", event: "id" }],
    ["a=x"],
    "clients.names was changed: clients have their new names",
  ]);
});
