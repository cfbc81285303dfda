/**
 * A TCP load balancer in front of several carryovers. It spreads connections over those that are ready, and does
 * nothing else.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Member {
  /** Where connections go. */
  readonly url: string;
  /** `/readyz` is asked here. */
  readonly adminUrl: string;
}

export interface Balancer {
  readonly url: string;
  /** From now on it is looked at, and gets connections while it is ready. */
  add(member: Member): void;
  remove(member: Member): void;
  /** Resolves when the last look found all members ready. */
  allReady(): Promise<void>;
  /** Connections that a member did not take although the last look found it ready. */
  refused(): number;
  connections(): number;
  close(): Promise<void>;
}

/**
 * TCP only: it cannot repeat a request, and does not try another member when one refuses. It looks every `everyMs`, and one look
 * decides.
 */
export async function createBalancer(everyMs: number): Promise<Balancer> {
  const members = new Map<Member, boolean>();
  const sockets = new Set<Socket>();
  let turn = 0;
  let refused = 0;
  let connections = 0;
  const server = createServer((client) => {
    const ready = [...members].filter(([, is]) => is).map(([member]) => member);
    const member = ready[turn++ % Math.max(1, ready.length)];
    if (member === undefined) {
      refused++;
      client.destroy();
      return;
    }
    connections++;
    const { hostname, port } = new URL(member.url);
    const upstream = connect(Number(port), hostname);
    upstream.once("error", ({ code }: NodeJS.ErrnoException) => {
      if (code === "ECONNREFUSED") refused++;
    });
    join(client, upstream);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    }
  });
  const look = async (): Promise<void> => {
    await Promise.all(
      [...members.keys()].map(async (member) => {
        const is = await fetch(`${member.adminUrl}/readyz`).then(
          ({ status }) => status === 200,
          () => false,
        );
        if (members.has(member)) members.set(member, is);
      }),
    );
  };
  let looking = look();
  const timer = setInterval(() => {
    looking = look();
  }, everyMs);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (member) => members.set(member, false),
    remove: (member) => members.delete(member),
    allReady: async () => {
      for (;;) {
        await looking;
        if ([...members.values()].every((is) => is)) return;
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    },
    refused: () => refused,
    connections: () => connections,
    close: async () => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What ends on one side ends on the other, in the same way. */
function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.setNoDelay(true);
    from.pipe(to);
    from.once("error", () => to.resetAndDestroy());
    from.once("close", () => to.destroySoon());
  }
}
