/** Names of clients in rules that no client has, because the ledger calls that client otherwise. */
import { MAX_NAME, UNKNOWN_CLIENT } from "../model/text.ts";
import type { Rule } from "../rules/rule.ts";
import { shownName } from "../rules/words.ts";
import type { ClientIdentity } from "./identity.ts";

/** A name that a rule gives and that misses a client. */
export interface MissedName {
  readonly rule: string;
  /** As the rule has it. */
  readonly client: string;
  /** The ledger's name; null: no client can have such a name, or the ledger lists none. */
  readonly ledger: string | null;
  readonly what: string;
  readonly remedy: string;
}

type NamingIdentity = Pick<ClientIdentity, "names" | "nameOfIdentity" | "isExcluded" | "readsCredentialsOnly">;

/**
 * By the options `clients.*`, and by the names that the ledger `knows`. A rule is taken at its word: that it names a client that has not
 * called yet is no fault.
 */
export function missedNames(
  rules: readonly Pick<Rule, "name" | "match">[],
  identity: NamingIdentity,
  knows: Iterable<string> | undefined = [],
): readonly MissedName[] {
  const known = new Set(knows);
  const byPlainForm = new Map<string, string>();
  for (const name of known) if (!byPlainForm.has(plainForm(name))) byPlainForm.set(plainForm(name), name);
  return rules.flatMap(({ name: rule, match }) =>
    [...(match.clients ?? [])].flatMap((client) => {
      const found = judge(client, { identity, known, byPlainForm });
      return found === undefined ? [] : [{ rule, client, ...found }];
    }),
  );
}

/** One line of a log or a report. */
export function missedText({ rule, what, remedy }: MissedName): string {
  return `rule ${rule}: ${what}; ${remedy}`;
}

interface Known {
  readonly identity: NamingIdentity;
  readonly known: ReadonlySet<string>;
  readonly byPlainForm: ReadonlyMap<string, string>;
}

function judge(
  client: string,
  { identity, known, byPlainForm }: Known,
): Pick<MissedName, "ledger" | "what" | "remedy"> | undefined {
  const shown = shownName(client);
  if (client === UNKNOWN_CLIENT) return undefined;
  const raw = `raw:${client}`;
  if (identity.names.has(client)) {
    // The configured client and one that calls itself so are two.
    if (!known.has(raw)) return undefined;
    const what = `another client calls itself ${shown}, and the ledger calls it ${raw}: the rule takes only the ${shown} of clients.names`;
    return { ledger: raw, what, remedy: `add ${raw} to the rule, if it is meant as well` };
  }
  // `carryover check` and the start warn of it already: did you mean the configured name?
  if (identity.names.has(client.toLowerCase())) return undefined;
  if (client.length > MAX_NAME) {
    const what = `the client's name has ${client.length} characters, and no name in the ledger has more than ${MAX_NAME}`;
    return { ledger: null, what, remedy: "name it in clients.names, and use that name" };
  }
  const called = nameFor(client, identity);
  if (identity.isExcluded(client)) {
    const what = `${shown} is excluded (clients.exclude), so the ledger, reports and metrics leave it out`;
    const takes = called === client ? "the rule takes its requests all the same" : "the rule takes no request of it";
    return {
      ledger: null,
      what: `${what}, and ${takes}`,
      remedy: `remove ${shown} from the rule, or from clients.exclude`,
    };
  }
  if (called === undefined) {
    const what = `no client can be called ${shown} by clients.identify`;
    return { ledger: null, what, remedy: "use a name that /clients shows" };
  }
  if (called !== client) {
    const what = `the ledger calls the client ${shown} ${shownName(called)}, so the rule takes no request of it`;
    const named = HASHED.test(called) ? ", or give the client a name in clients.names" : "";
    return { ledger: called, what, remedy: `write client: ${JSON.stringify(called)}${named}` };
  }
  if (known.has(client) || HASHED.test(client)) return undefined;
  if (identity.readsCredentialsOnly) {
    const what = `clients.identify reads credentials, so only hashes and names of clients.names are known, and ${shown} is neither`;
    return { ledger: null, what, remedy: "name the client in clients.names, or use the name h-… that /clients shows" };
  }
  const near = byPlainForm.get(plainForm(client));
  if (near === undefined) return undefined;
  const what = `the ledger knows no client ${shown}, but ${shownName(near)}: rules name clients exactly`;
  return { ledger: near, what, remedy: `write client: ${JSON.stringify(near)}` };
}

const HASHED = /^h-[0-9a-f]{16}$/;

/** The name of the client that the rule means. `raw:X` and hashes are names that the ledger makes. */
function nameFor(client: string, { nameOfIdentity }: Pick<ClientIdentity, "nameOfIdentity">): string | undefined {
  if (!client.startsWith("raw:")) return nameOfIdentity(client);
  return nameOfIdentity(client.slice("raw:".length));
}

function plainForm(name: string): string {
  return name.replace(/^raw:/, "").toLowerCase();
}
