/** A v2 platform while others write to it, in memory or as an HTTP server. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Send } from "../../../src/model/http.ts";
import type { Paging } from "../../support/platform-pages.ts";
import { type Ask, cut, type Page, recordOf, write } from "./pages.ts";
import { createShelf, rowsOf, type Shelf } from "./shelf.ts";

export interface Habits extends Paging {
  /** Before the page is cut, and again before it goes out. */
  readonly wait: (ask: Ask) => Promise<void> | undefined;
  /** Writers; `page` is the one that was just cut. */
  readonly before: (ask: Ask, shelf: Shelf) => void;
  readonly after: (ask: Ask, shelf: Shelf, page: Page) => void;
}

const HONEST: Habits = {
  tokens: "keyset",
  cap: 200,
  wait: () => undefined,
  before: () => {},
  after: () => {},
};

export interface Platform {
  habits: Habits;
  shelf: Shelf;
  /** Every request for a page, in order of arrival. */
  readonly asked: Ask[];
  /** Requests for pages under way, and the most there ever were. */
  readonly busy: { now: number; most: number };
  readonly sockets: ReadonlySet<Socket>;
  /** The platform in memory. */
  readonly send: Send;
  /** The platform on a loopback port; gives its URL. */
  listen(): Promise<string>;
  /** As if it were new. */
  reset(habits?: { readonly [K in keyof Habits]?: Habits[K] | undefined }, shelf?: Shelf): void;
  close(): Promise<void>;
}

/** Without the members that are undefined. */
function given(habits: Readonly<Record<string, unknown>>): Partial<Habits> {
  return Object.fromEntries(Object.entries(habits).filter(([, value]) => value !== undefined));
}

const COLLECTION = /^\/iam\/v2beta1\/(groups|groupInvites)$/;

/** `habits` over what is `HONEST`. */
export function createPlatform(habits: Partial<Habits> = {}, shelf = createShelf(rowsOf(450))): Platform {
  const sockets = new Set<Socket>();
  const asked: Ask[] = [];
  const server = createServer((request, response) => void serve(request, response));
  const platform = {
    habits: { ...HONEST, ...given(habits) },
    shelf,
    asked,
    busy: { now: 0, most: 0 },
    sockets,
  };

  function count(): () => void {
    const { busy } = platform;
    busy.now += 1;
    busy.most = Math.max(busy.most, busy.now);
    return () => {
      busy.now -= 1;
    };
  }

  async function answer(ask: Ask): Promise<string> {
    const { habits } = platform;
    const waited = habits.wait(ask);
    if (waited !== undefined) await waited;
    habits.before(ask, platform.shelf);
    const page = cut(platform.shelf, ask, habits);
    habits.after(ask, platform.shelf, page);
    const held = habits.wait(ask);
    if (held !== undefined) await held;
    return write(page, ask);
  }

  function take(target: string, authorization: string): Ask | undefined {
    const url = new URL(target, "http://platform");
    const collection = COLLECTION.exec(url.pathname)?.[1];
    if (collection === undefined) return undefined;
    const query = url.searchParams;
    const ask: Ask = {
      collection,
      size: Number(query.get("page_size") ?? 50),
      token: query.get("page_token") || undefined,
      skip: Number(query.get("skip") ?? 0),
      who: authorization.replace("Bearer ", ""),
    };
    asked.push(ask);
    return ask;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization = "" } = request.headers;
    const ask = take(request.url ?? "", authorization);
    if (ask === undefined) return pass(response, request.url ?? "", authorization);
    const done = count();
    response.once("close", done);
    respond(response, await answer(ask));
  }

  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.keepAliveTimeout = 60_000;

  const send: Send = async ({ target, headers }, { signal }) => {
    const ask = take(target, headers.find(([name]) => name === "authorization")?.[1] ?? "");
    if (ask === undefined) throw new Error(`nothing at ${target}`);
    const done = count();
    try {
      const body = Buffer.from(await answer(ask));
      signal.throwIfAborted();
      return { status: 200, headers: [], body };
    } finally {
      done();
    }
  };

  return Object.assign(platform, {
    send,
    listen: async () => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    reset: (habits = {}, shelf = createShelf(rowsOf(450))) => {
      platform.habits = { ...HONEST, ...given(habits) };
      platform.shelf = shelf;
      platform.busy.most = 0;
      asked.length = 0;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

/** One record, for any client and any habits: reads that are not lists. */
function pass(response: ServerResponse, target: string, authorization: string): void {
  const uid = target.replace("/iam/v2beta1/groups/", "");
  respond(response, recordOf({ uid, name: "one", created: 0 }, authorization.replace("Bearer ", ""), "groups"));
}

function respond(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(body);
}
