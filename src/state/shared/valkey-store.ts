/** The shared store in Valkey or Redis: each tick is one call of a script. */
import { type ConnectionOptions, createStoreConnection, StoreRefusal } from "./connection.ts";
import { type SharedStore, StoreError, type TickRequest } from "./protocol.ts";
import { ownersKey, readOwners, readReply, readRows, rowsKey, scriptCall } from "./script.ts";

export interface ValkeyOptions extends ConnectionOptions {
  /** First part of all keys: deployments that share a server differ in it. */
  readonly prefix: string;
  /** Another text with each call. */
  readonly fresh: () => string;
}

export function createValkeyStore(options: ValkeyOptions): SharedStore {
  const connection = createStoreConnection(options);
  const run = async (request: TickRequest): Promise<unknown> => {
    const { script, key, words } = scriptCall(request, options.prefix, options.fresh());
    const rest = ["1", key, ...words];
    try {
      return await connection.call(["EVALSHA", script.sha1, ...rest]);
    } catch (error) {
      // A server that was restarted or replaced has not seen the script yet.
      if (!(error instanceof StoreRefusal && error.message.startsWith("NOSCRIPT"))) throw error;
      return await connection.call(["EVAL", script.text, ...rest]);
    }
  };
  let turn: Promise<unknown> = Promise.resolve();
  /** After the commands before it: the connection takes one at a time. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work).catch((error: unknown) => {
      throw error instanceof StoreRefusal ? refusalOf(error) : error;
    });
    turn = done.catch(() => {});
    return done;
  };
  const read = (key: string) => connection.call(["HGETALL", key]);
  return {
    tick: (request) => inTurn(async () => readReply(await run(request), request.wantsReplicas)),
    owners: () => inTurn(async () => readOwners(await read(ownersKey(options.prefix)))),
    rowsOf: (owner) => inTurn(async () => readRows(await read(rowsKey(options.prefix, owner)))),
    close: async () => connection.close(),
  };
}

function refusalOf({ message }: StoreRefusal): StoreError {
  if (/\bOOM\b/.test(message)) return new StoreError("full", message);
  if (/WRONGTYPE/.test(message)) {
    return new StoreError("unusable", "keys below state.prefix hold something else than carryover's state");
  }
  return new StoreError("unusable", message);
}
