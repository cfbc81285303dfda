import { randomUUID } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import { later } from "../../../src/model/clock.ts";
import type { SharedStore } from "../../../src/state/shared/protocol.ts";
import { createValkeyStore } from "../../../src/state/shared/valkey-store.ts";
import { describeStore } from "../../state/shared/contract.ts";
import { SERVERS, type Server, startServer } from "./server.ts";

for (const name of SERVERS) {
  let server: Server;
  let store: SharedStore;
  beforeAll(async () => {
    server = await startServer(name);
    store = createValkeyStore({
      url: server.url,
      username: undefined,
      prefix: "carryover",
      secrets: async () => ({}),
      later,
      random: Math.random,
      fresh: randomUUID,
    });
  });
  afterAll(async () => {
    await store?.close();
    await server?.close();
  });
  describeStore(name, () => ({ store, empty: async () => void (await server.run("FLUSHALL")) }));
}
