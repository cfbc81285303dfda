/** A relay between a front and carryover that changes nothing and records every byte. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { later } from "../../end-to-end/app/rig.ts";

/** One connection. Latin-1: one character is one byte. */
export interface Taken {
  /** What the front wrote. */ asked: string;
  /** What carryover wrote. */
  answered: string;
}

export interface Tap {
  readonly url: string;
  readonly connections: readonly Taken[];
}

/** Stands before `behind` (a URL); gone after the test. */
export async function startTap(behind: string): Promise<Tap> {
  const { hostname, port } = new URL(behind);
  const connections: Taken[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (front) => {
    const taken: Taken = { asked: "", answered: "" };
    connections.push(taken);
    const back = connect({ host: hostname, port: Number(port), noDelay: true });
    for (const socket of [front, back]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        front.destroySoon();
        back.destroySoon();
      });
    }
    front.on("data", (bytes: Buffer) => {
      taken.asked += bytes.toString("latin1");
    });
    back.on("data", (bytes: Buffer) => {
      taken.answered += bytes.toString("latin1");
    });
    front.pipe(back);
    back.pipe(front);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  later(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections };
}
