import { expect, test } from "vitest";
import { checkClients } from "../../../src/commands/check/clients.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { exchange } from "../../ledger/samples.ts";
import { rule, rulesOf } from "../../rollout/control-rig.ts";
import { stateFolder, stateProcess } from "../../state/state-rig.ts";
import { takeDownAfterEach } from "../../support/take-down.ts";

takeDownAfterEach();

const PROMOTE = { differencesBelow: 0.01, minClients: 20, automatic: false };
const RULES = rulesOf([
  rule({ name: "few", match: { clients: new Set(["Ann"]) } }),
  rule({ name: "reads", mode: "shadow", promoteWhen: PROMOTE }),
  rule({ name: "one", mode: "shadow", match: { clients: new Set(["ann"]) }, promoteWhen: PROMOTE }),
]);

async function checked(dir: string | undefined, identify = "header:x-client") {
  const flags = {
    upstreamV2Url: "http://127.0.0.1:1",
    clientsIdentify: identify,
    ...(dir === undefined ? {} : { stateDir: dir }),
  };
  const { config } = loadConfig({ flags, env: {}, readFile: () => new Uint8Array() });
  return (await checkClients(config, RULES)).map(
    ({ probe, level, what, remedy }) => `${probe} ${level} ${what}; ${remedy}`,
  );
}

test("rules that name a client otherwise than the ledger, or need more clients than it knows, are warned of", async () => {
  const folder = stateFolder();
  const before = stateProcess(folder);
  await before.start();
  before.ledger.observe(exchange("ann"));
  await before.saved.close();
  expect(await checked(folder)).toEqual([
    'rules warn few: the ledger knows no client Ann, but ann: rules name clients exactly; write client: "ann"',
    "rules warn reads: minClients needs 20 clients, and the ledger knows 1: the rule cannot move on before more clients call, or minClients is lowered to 1 at most; see /clients, and promoteWhen.minClients of the rule",
  ]);
});

test("without a ledger only the options are judged", async () => {
  expect(await checked(undefined)).toEqual([]);
  expect(await checked("/nowhere", "user-agent")).toEqual([
    'rules warn few: the ledger calls the client Ann ann, so the rule takes no request of it; write client: "ann"',
  ]);
});

test("a name for a product with its version is warned of, where only user agents identify clients", async () => {
  const names = async (identify: string) => {
    const flags = {
      upstreamV2Url: "http://127.0.0.1:1",
      clientsIdentify: identify,
      clientsNames: "bot=ci-bot/1.4,web=web",
    };
    const { config } = loadConfig({ flags, env: {}, readFile: () => new Uint8Array() });
    return (await checkClients(config, undefined)).map(({ level, what, remedy }) => `${level} ${what}; ${remedy}`);
  };
  expect(await names("user-agent")).toEqual([
    expect.stringMatching(
      /^warn clients\.names: .* bot by the identity "ci-bot\/1\.4": .*; write the identity ci-bot$/,
    ),
  ]);
  expect(await names("header:x-client")).toEqual([]);
});
