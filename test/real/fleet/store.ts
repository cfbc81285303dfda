/** The store of the fleet: a real Valkey with the documented account, reached by each process on a way of its own. */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { LOCALHOST } from "../../server/support/certificates.ts";
import { later } from "../../support/take-down.ts";
import { type Server, startServer } from "../state/server.ts";
import { startWay, type Way } from "./way.ts";

const PASSWORD = "first-password";

export interface Store {
  readonly ways: readonly Way[];
  /** The present server. */
  server(): Server;
  /** All ways lead to this server from the next connection on. */
  moveTo(server: Server): void;
  /** A further server with the same account. */
  another(): Promise<Server>;
  /** Flags of the process number `at`. */
  flags(at: number): Readonly<Record<string, string>>;
  /** Changes the file that the processes read for each connection. Without a text, it has the right password again. */
  setPassword(text?: string): void;
  setAuthority(pem?: string): void;
}

/** `folder`: for the files of secrets. */
export async function startStore(count: number, folder: string): Promise<Store> {
  const account = ["--user", ...documentedAccount(PASSWORD)];
  const another = async (): Promise<Server> => {
    const server = await startServer("valkey-9.1", ...account);
    later(() => server.close());
    return server;
  };
  let present = await another();
  const ways: Way[] = [];
  for (let i = 0; i < count; i++) ways.push(await startWay(() => present.port));
  const [passwordFile, caFile] = [join(folder, "store-password"), join(folder, "store-ca.pem")];
  const setPassword = (text = PASSWORD): void => writeFileSync(passwordFile, text);
  const setAuthority = (pem: string = LOCALHOST.cert): void => writeFileSync(caFile, pem);
  setPassword();
  setAuthority();
  return {
    ways,
    server: () => present,
    moveTo: (server) => {
      present = server;
    },
    another,
    flags: (at) => ({
      stateUrl: ways[at]?.url ?? "",
      stateUsername: "carryover",
      statePasswordFile: passwordFile,
      stateTlsCaFile: caFile,
    }),
    setPassword,
    setAuthority,
  };
}

/** The account of docs/scale.md, as words of the server's configuration. */
function documentedAccount(password: string): readonly string[] {
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs/scale.md"), "utf8");
  const line = /^user (carryover on .*)$/m.exec(page)?.[1];
  if (line === undefined) throw new Error("docs/scale.md has no line for the account at the store");
  return line.replace("<password>", password).split(" ");
}
