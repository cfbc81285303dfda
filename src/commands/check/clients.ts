/** `carryover check` of the clients that rules are about: by the options `clients.*`, and by the ledger in `state.dir`. */
import type { Config } from "../../config/config.ts";
import { tooFewText } from "../../fleet/judge.ts";
import { LedgerSchema } from "../../ledger/entry.ts";
import { createIdentity, productOf } from "../../ledger/identity.ts";
import { missedNames } from "../../ledger/rule-names.ts";
import { namedClient } from "../../model/client-names.ts";
import { member, parsedJson } from "../../model/json.ts";
import { readRecord } from "../../rules/record.ts";
import type { Rule, Rules } from "../../rules/rule.ts";
import { createFolderReader } from "../../state/store.ts";
import { type Finding, findingsOf, type Judgement, warn } from "./finding.ts";

/** Nothing for names that can match, and for rules whose clients are called as the ledger calls them, and are enough. */
export async function checkClients(config: Config, rules: Rules | undefined): Promise<readonly Finding[]> {
  const unmatched = findingsOf("clients", ...unmatchedNames(config.clients));
  return rules === undefined ? unmatched : [...unmatched, ...(await checkClientsOfRules(config, rules))];
}

/** Names whose identity has more than the product of a user agent, where nothing else identifies a client. */
function unmatchedNames({ identify, names }: Config["clients"]): readonly Judgement[] {
  if (identify.some((source) => source !== "user-agent")) return [];
  return names.map(namedClient).flatMap(({ name, identities }) =>
    identities.flatMap((identity) => {
      const product = productOf(identity);
      if (product === identity) return [];
      const what = `clients.names: no client is ever called ${name} by the identity ${JSON.stringify(identity)}: of a user agent the product counts, without its version`;
      return [warn(what, product === undefined ? "write the product" : `write the identity ${product}`)];
    }),
  );
}

async function checkClientsOfRules(config: Config, rules: Rules): Promise<readonly Finding[]> {
  const known = await savedClients(config.state.dir);
  const identity = createIdentity({ ...config.clients, key: config.cutover.salt });
  const missed = missedNames(rules.rules, identity, known).map(({ rule, what, remedy }) =>
    warn(`${rule}: ${what}`, remedy),
  );
  const few = known === undefined ? [] : rules.rules.flatMap((rule) => tooFew(rule, known.length));
  return findingsOf("rules", ...missed, ...few);
}

function tooFew({ name, mode, match, promoteWhen }: Rule, known: number): readonly Judgement[] {
  if (mode !== "shadow" || promoteWhen === undefined) return [];
  const { minClients } = promoteWhen;
  const needed = Math.min(minClients, match.clients?.size ?? minClients);
  // An empty ledger is new: nothing is known of who calls.
  if (known === 0 || known >= needed) return [];
  return [warn(`${name}: ${tooFewText(needed, known)}`, "see /clients, and promoteWhen.minClients of the rule")];
}

/** Names of the clients in the ledger of this machine. Undefined where none can be read: `checkState` says why. */
async function savedClients(dir: string | undefined): Promise<readonly string[] | undefined> {
  if (dir === undefined) return undefined;
  try {
    const text = await createFolderReader(dir).read("counts");
    if (text === undefined) return undefined;
    return readRecord(LedgerSchema, member(parsedJson(text), "ledger")).clients.map(({ name }) => name);
  } catch {
    return undefined;
  }
}
