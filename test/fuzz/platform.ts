/** A platform that is honest with some calls and hostile with others, and knows which is which by one number. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createRandom } from "../../sandbox/src/seed/prng.ts";
import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import type { Json } from "../../src/model/json.ts";
import type { Resource, Row } from "../../src/model/resource.ts";
import { hostileAnswer, type Step } from "./hostile.ts";

export interface Platform {
  readonly url: string;
  readonly port: number;
  /** Hostile answers given so far. */
  hostile(): number;
  /** Connections that are open. */
  open(): number;
  close(): Promise<void>;
}

/** A v2 value of a row, as an honest platform writes it. */
function valueIn(row: Row): Json {
  const one = (): Json => {
    switch (row.kind) {
      case "bool":
        return true;
      case "int32":
      case "uint32":
        return 7;
      case "int64":
        return "7";
      case "timestamp":
        return "2026-03-01T09:30:00Z";
      case "duration":
        return "60s";
      case "bytes":
        return "aGk=";
      case "enum":
        return row.values.values.find(([, , v2]) => v2 !== null)?.[2] ?? "X";
      case "message":
        return recordOf(row.rows);
      case "map":
        return { 1: row.of === "int32" ? 1 : row.of === "string" ? "v" : {} };
      default:
        return "a";
    }
  };
  return row.kind !== "map" && row.list === true ? [one(), one()] : one();
}

/** An honest v2 record of these rows. */
export const recordOf = (rows: readonly Row[]): { [name: string]: Json } =>
  Object.fromEntries(rows.flatMap((row) => (row.v2 === null ? [] : [[row.v2, valueIn(row)]])));

/** What this platform says of `path` when it is honest. */
function honest(method: string, target: string, resources: readonly Resource[]): Json {
  const [path = "", query = ""] = target.split("?");
  const [, domain, , collection = "", ...rest] = path.split("/");
  const [plain = "", verb] = collection.split(":");
  const resource = resources.find((each) => each.domain === domain && each.v2 === plain);
  const list = resource?.operations.find(({ kind }) => kind === "list");
  const rows = list?.kind === "list" ? list.answer.rows : [];
  const uid = rest.join("/").replace(/:\w+$/, "");
  if (resource !== undefined && method === "GET" && uid === "" && verb === undefined) {
    const second = query.includes("page_token");
    const asked = new URLSearchParams(query).getAll("uidp.ids");
    const uids = asked.length > 0 ? asked : second ? ["c", "d"] : ["a", "b"];
    const records = uids.map((each) => ({ ...recordOf(rows), uid: each }));
    return { [resource.items]: records, nextPageToken: second || asked.length > 0 ? "" : "t", totalCount: "4" };
  }
  return { ...recordOf(rows), uid: uid === "" ? "a/b" : method === "POST" ? `${uid}/f0` : uid };
}

/** Serves v2 raw. `share`: how many of all answers are hostile. */
export async function createPlatform(catalogue: Catalogue, seed: string, share: number): Promise<Platform> {
  const random = createRandom(seed);
  const sockets = new Set<Socket>();
  let hostile = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    let rest = "";
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk: Buffer) => {
      rest += chunk.toString("latin1");
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/^content-length: (\d+)\r$/im.exec(rest.slice(0, end + 2))?.[1] ?? 0);
      const [method = "", target = ""] = rest.slice(0, rest.indexOf("\r\n")).split(" ");
      const good = honest(method, target, catalogue.resources);
      const isHostile = random.chance(share);
      // A hostile one need not have read the body.
      if (rest.length < end + 4 + length && !(isHostile && random.chance(0.1))) return;
      rest = rest.slice(end + 4 + length);
      if (isHostile) hostile++;
      void perform(socket, isHostile ? hostileAnswer(good, random) : [{ write: answer(good) }]);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    hostile: () => hostile,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(good: Json): string {
  const body = Buffer.from(JSON.stringify(good)).toString("latin1");
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function perform(socket: Socket, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (socket.destroyed) return;
    if ("write" in step) socket.write(step.write, "latin1");
    else if ("waitMs" in step) await new Promise((resolve) => setTimeout(resolve, step.waitMs));
    else if (step.finally === "reset") socket.resetAndDestroy();
    else if (step.finally === "end") socket.end();
  }
}
