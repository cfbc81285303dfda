/** `carryover check` of `state.url`: connects as `serve` does, and tries everything that replicas need on a key of its own. */
import type { Config } from "../../config/config.ts";
import { later } from "../../model/clock.ts";
import { STORE_COMMANDS, type StoreCommand } from "../../state/shared/commands.ts";
import { createStoreConnection, type StoreConnection, StoreRefusal } from "../../state/shared/connection.ts";
import { StoreError } from "../../state/shared/protocol.ts";
import { scriptOf } from "../../state/shared/script.ts";
import { storeSecrets } from "../../state/shared/secrets.ts";
import { type Finding, fail, findingsOf, type Judgement, note, ok, skipped, warn } from "./finding.ts";

/** Empty without `state.url`. */
export async function checkStore(state: Config["state"]): Promise<readonly Finding[]> {
  const { url, username, prefix } = state;
  if (url === undefined) return [];
  const connection = createStoreConnection({ url, username, secrets: storeSecrets(state), later, random: Math.random });
  const found: Judgement[] = [];
  try {
    const server = readHello(await connection.call(["HELLO"]));
    found.push(...judgeServer(server));
    if (server?.mode !== "sentinel") {
      found.push(...(await tryCommands(connection, prefix)));
      found.push(await judgeEviction(connection));
    }
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof StoreRefusal)) throw error;
    found.push(judgeFault(error.message));
  } finally {
    connection.close();
  }
  return findingsOf("store", ...found);
}

const FAULTS: readonly (readonly [fault: RegExp, what: string, remedy: string])[] = [
  [/ECONNREFUSED/, "nothing listens there", "correct host and port of state.url, or start the server"],
  [/ENOTFOUND|EAI_AGAIN/, "the name is not known", "correct the host of state.url, or the DNS of this machine"],
  [
    /EHOSTUNREACH|ENETUNREACH|EACCES .*:\d+$/,
    "there is no way to that address",
    "correct state.url, or look at routes, firewalls and network policies",
  ],
  [
    /^no (?:connection|response) within|ETIMEDOUT|timeout/i,
    "there is no response in time",
    "correct state.url (with redis:// if that port speaks no TLS), or look at firewalls and network policies, and whether the server hangs",
  ],
  [
    /^(?:WRONGPASS|ERR (?:AUTH|invalid password|Client sent AUTH))/,
    "the server refuses the password",
    "correct state.username, or the content of state.passwordFile",
  ],
  [
    /^NOAUTH/,
    "the server requires a password",
    "set state.passwordFile, and state.username unless it is the password of the default account",
  ],
  [
    /^DENIED/,
    "the server accepts only connections from its own machine",
    "give its account a password, and set state.passwordFile",
  ],
  [/^NOPERM/, "the account may not connect", "correct state.username, or enable the account"],
  [
    /altname/i,
    "the certificate is for another name",
    "write a name of the certificate into state.url, or have its names corrected",
  ],
  [/certificate has expired|CERT_HAS_EXPIRED/i, "the certificate has expired", "have it renewed"],
  [
    /alert|certificate required|bad certificate/i,
    "the server requires a certificate of its clients, or refuses this one",
    "set state.tls.certFile and state.tls.keyFile to a certificate that the server accepts",
  ],
  [
    /self[- ]signed|unable to (?:get|verify)|issuer/i,
    "the certificate is signed by an authority that this machine does not know",
    "put the certificate of that authority into a PEM file, and name it in state.tls.caFile",
  ],
  [
    /wrong version number|packet length too long|EPROTO/i,
    "no TLS is spoken there",
    "write state.url with redis://, or name the port that speaks TLS",
  ],
  [
    /ECONNRESET|EPIPE|socket closed/i,
    "the connection is cut",
    "write state.url with rediss:// if that port speaks TLS; otherwise correct its port",
  ],
  [
    /^(?:READONLY|MASTERDOWN)/,
    "the server is a copy that takes no writes",
    "write the address of the primary, or one that follows it, into state.url",
  ],
  [/^(?:LOADING|CLUSTERDOWN|TRYAGAIN)/, "the server is not ready", "check again when it is"],
  [/^MISCONF|^NOREPLICAS/, "the server takes no writes at present", "repair the server: its log says why"],
  [
    /WRONGTYPE/,
    "another program uses these keys",
    "set another state.prefix, the same for all replicas, or remove these keys",
  ],
  [/^(?:ENOENT|EACCES)/, "a file cannot be read", "correct state.passwordFile, or the files of state.tls"],
];

function judgeFault(fault: string): Judgement {
  const [, what, remedy] = FAULTS.find(([pattern]) => pattern.test(fault)) ?? [
    undefined,
    "the store cannot be used",
    "correct state.url, or ask the server's operators",
  ];
  // OpenSSL names functions and files of its own.
  const shown = /:error:[^:]*:[^:]*:[^:]*:([^:]*)/.exec(fault)?.[1] ?? fault;
  return fail(`state.url: ${what} (${shown})`, `${remedy}; until then each replica decides alone`);
}

interface StoreServer {
  readonly name: string;
  readonly version: string;
  /** `standalone`, `cluster` or `sentinel`. */
  readonly mode: unknown;
  readonly role: unknown;
}

/** Undefined if the server does not say what it is. */
function readHello(reply: unknown): StoreServer | undefined {
  const { server, version, mode, role } = Object.fromEntries(
    reply instanceof Map ? reply : Object.entries(reply ?? {}),
  );
  if (typeof server !== "string" || typeof version !== "string") return undefined;
  const [name, known] = [server, version].map((text) => text.replaceAll(/[^\w.-]/g, "?").slice(0, 40));
  return { name: name ?? "", version: known ?? "", mode, role };
}

function judgeServer(server: StoreServer | undefined): readonly Judgement[] {
  if (server === undefined) {
    return [skipped("state.url: the server does not say what it is", "use Redis 7 or later, or Valkey")];
  }
  const { name, version, mode, role } = server;
  const what = `state.url: ${name} ${version}`;
  if (mode === "sentinel") {
    const remedy = "write the address of the primary, or one that follows it, into state.url";
    return [fail(`${what} is a Sentinel, which keeps nothing itself`, remedy)];
  }
  const isOld = name === "redis" && Number.parseInt(version, 10) < 7;
  const isTested = name === "redis" || name === "valkey";
  return [
    isOld
      ? fail(`${what} is too old`, "use Redis 7 or later, or Valkey")
      : isTested
        ? ok(`${what} responds`)
        : note(`${what} responds`, "carryover is tested with Redis and Valkey only"),
    ...(mode === "cluster" ? [note("it is a cluster: one of its nodes has all keys of carryover")] : []),
    ...(mode !== "cluster" && role !== undefined && role !== "master"
      ? [
          warn(
            "it is a copy of another server: what is written here is lost, if it is taken at all",
            "write the address of the primary, or one that follows it, into state.url",
          ),
        ]
      : []),
  ];
}

const SCRIPT = scriptOf("#!lua\nreturn 1");

/** Calls every command once. HDEL removes the only field, and with it the key, which also expires by itself. */
async function tryCommands(connection: StoreConnection, prefix: string): Promise<readonly Judgement[]> {
  const key = `{${prefix}}:1:check`;
  const words: Readonly<Record<StoreCommand, readonly string[]>> = {
    HSET: [key, "field", "1"],
    EXPIRE: [key, "60"],
    HGET: [key, "field"],
    HGETALL: [key],
    TIME: [],
    EVAL: [SCRIPT.text, "1", key],
    EVALSHA: [SCRIPT.sha1, "1", key],
    HDEL: [key, "field"],
  };
  const denied: string[] = [];
  const found: Judgement[] = [];
  let isDeniedKey = false;
  for (const [command, rest] of Object.entries(words)) {
    const refusal = await refusalOf(connection, [command, ...rest]);
    if (refusal === undefined) continue;
    if (/^NOPERM.*\bkeys?\b/.test(refusal)) isDeniedKey = true;
    else if (refusal.startsWith("NOPERM")) denied.push(command);
    else if (/^-?OOM|\bOOM\b/.test(refusal)) {
      if (command === "HSET") found.push(warn("the server has no memory left: counts wait", "raise its maxmemory"));
    } else if (!refusal.startsWith("NOSCRIPT")) return [judgeFault(refusal)];
  }
  if (isDeniedKey) {
    const remedy = `add ~{${prefix}}:1:* to the account, or correct state.prefix`;
    found.push(fail(`the account may not use keys that begin with {${prefix}}:1:`, remedy));
  }
  if (denied.length > 0) {
    const rights = denied.map((command) => `+${command.toLowerCase()}`).join(" ");
    found.push(
      fail(`the account may not run ${denied.join(", ")}`, `add ${rights} to the account, or correct state.username`),
    );
  }
  if (found.length > 0) return found;
  return [ok(`the account may run all ${STORE_COMMANDS.length} commands that replicas need`)];
}

/** The error with which the server refuses a command; undefined if it does not. */
async function refusalOf(connection: StoreConnection, words: readonly string[]): Promise<string | undefined> {
  try {
    await connection.call(words);
    return undefined;
  } catch (error) {
    if (error instanceof StoreRefusal) return error.message;
    throw error;
  }
}

async function judgeEviction(connection: StoreConnection): Promise<Judgement> {
  const policy = await evictionPolicy(connection);
  if (policy === undefined) {
    return skipped(
      "maxmemory-policy cannot be seen: the account may run neither INFO nor CONFIG GET",
      "ask the server's operators: noeviction and the volatile- policies are harmless",
    );
  }
  if (!policy.startsWith("allkeys-")) return ok(`maxmemory-policy ${policy} evicts no step back`);
  return warn(
    `maxmemory-policy ${policy}: a full server may evict step backs and the last carryover force`,
    "set noeviction or a volatile- policy. Replicas that run put back what was evicted; a replica that starts before does not know it",
  );
}

async function evictionPolicy(connection: StoreConnection): Promise<string | undefined> {
  for (const words of [
    ["INFO", "memory"],
    ["CONFIG", "GET", "maxmemory-policy"],
  ]) {
    try {
      const text = JSON.stringify(await connection.call(words));
      const [, policy] = /maxmemory[_-]policy\W+((?:noeviction|allkeys|volatile)[a-z-]*)/.exec(text) ?? [];
      if (policy !== undefined) return policy;
    } catch (error) {
      if (!(error instanceof StoreRefusal)) throw error;
    }
  }
  return undefined;
}
