/** Many clients of one kind, each in its own line. */
import { type Client, dial } from "../../server/support/client.ts";

/** `count` connections to `port`, opened a few at a time: the queue of connections that are not yet accepted is limited. */
export async function dialMany(port: number, count: number): Promise<Client[]> {
  const clients: Client[] = [];
  while (clients.length < count) {
    const some = Math.min(100, count - clients.length);
    clients.push(...(await Promise.all(Array.from({ length: some }, () => dial(port)))));
  }
  return clients;
}

/** Each sends `byte` again and again until it is closed. */
export function dripAll(clients: readonly Client[], byte: string, everyMs: number): void {
  for (const client of clients) {
    const timer = setInterval(() => client.send(byte), everyMs);
    client.socket.once("close", () => clearInterval(timer));
  }
}

/** `line` asked again and again, one at a time, until `over` settles: what came, and the times in ms. */
export async function meanwhile(ask: () => Promise<number>, over: Promise<unknown>) {
  const statuses = new Map<number, number>();
  const times: number[] = [];
  let going = true;
  void over.finally(() => {
    going = false;
  });
  while (going) {
    const began = performance.now();
    const status = await ask();
    times.push(performance.now() - began);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { statuses, times: times.sort((a, b) => a - b) };
}
