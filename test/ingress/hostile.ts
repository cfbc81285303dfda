/** A client that means harm, over gRPC and through an ingress: each attack in a loop on connections of its own, at a bounded rate. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import { setTimeout as wait } from "node:timers/promises";
import { VENDOR_TYPES } from "../../sandbox/src/data/vendor.ts";
import { framed } from "../grpc/support/rpc.ts";

export interface Hostile {
  /** Ends it. Returns how many calls each attack has made. */
  stop(): Promise<Readonly<Record<string, number>>>;
}

interface Target {
  readonly url: string;
  /** The certificate of its authority. */
  readonly ca: string;
  /** A credential that the platform accepts. It may not write. */
  readonly token: string;
}

interface Attack {
  /** Between two turns. */
  readonly everyMs: number;
  /** Turns of one connection. */
  readonly turns: number;
  readonly windowBytes?: number;
  /** One turn. Nothing waits for its calls. */
  turn(at: Turn): void;
}

interface Turn {
  readonly number: number;
  readonly session: ClientHttp2Session;
  /** Opens a call. `who` is the credential of it. */
  open(path: string, who: "known" | "invented" | "none", headers?: OutgoingHttpHeaders): ClientHttp2Stream;
}

const LIST = `/${VENDOR_TYPES}.iam.Groups/List`;
const CREATE = `/${VENDOR_TYPES}.iam.Groups/Create`;
/** Passed through: nothing of it is read. */
const V2_LIST = `/${VENDOR_TYPES}.iam.v2beta1.GroupsService/ListGroups`;
/** Every group there is: work for all. */
const ALL = framed(Buffer.alloc(0));
/** Those with the name "none". */
const NONE = framed(Buffer.from("\x1a\x04none"));
const LARGE = Buffer.alloc(96 * 1024, "x");
const MIB = 2 ** 20;

/** The prefix of a message of that length. */
function announced(bytes: number): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes, 1);
  return prefix;
}

/** Calls of one attack at a time. */
const MOST_UNFINISHED = 24;

/** Sends later what is sent after a head. */
function later(stream: ClientHttp2Stream, ms: number, send: () => void): void {
  setTimeout(() => {
    if (!stream.destroyed) send();
  }, ms).unref();
}

const ATTACKS: ReadonlyMap<string, Attack> = new Map<string, Attack>([
  ["invented tokens", { everyMs: 200, turns: 200, turn: ({ open }) => open(LIST, "invented").end(NONE) }],
  [
    "refused early, with a large body",
    {
      everyMs: 100,
      turns: 100,
      turn({ open, number }) {
        const stream = open("/acme.nothing.v9.Service/Do", "none");
        stream.write(Buffer.concat([announced(LARGE.length), LARGE]));
        later(stream, number % 9, () => stream.end());
      },
    },
  ],
  [
    "larger than allowed",
    {
      everyMs: 500,
      turns: 50,
      turn({ open }) {
        const stream = open(CREATE, "known");
        stream.write(announced(64 * MIB));
        stream.end(LARGE);
      },
    },
  ],
  [
    "messages that never come",
    {
      everyMs: 250,
      turns: 300,
      turn({ open, number }) {
        const stream = open(number % 3 === 0 ? V2_LIST : LIST, number % 2 === 0 ? "known" : "invented");
        if (number % 4 !== 0) stream.write(Buffer.concat([announced(4 * MIB - 64), Buffer.alloc(10)]));
      },
    },
  ],
  [
    "rapid cancels",
    {
      everyMs: 500,
      turns: 1_000,
      turn({ open, number }) {
        // With Node 20, HTTP/2 itself ends a connection after 1,000 resets, and then 33 a second, from all clients together.
        for (let i = 0; i < 12; i++) {
          const stream = open(LIST, i % 8 === 0 ? "invented" : "known");
          stream.end(NONE);
          later(stream, (number + i) % 3, () => stream.close(8));
        }
      },
    },
  ],
  [
    "resets after the head of a response",
    {
      everyMs: 250,
      turns: 200,
      turn({ open }) {
        const stream = open(LIST, "known");
        stream.end(NONE);
        stream.once("response", () => stream.close(2));
      },
    },
  ],
  [
    "readers that read nothing",
    { everyMs: 1000, turns: 100, windowBytes: 0, turn: ({ open }) => open(LIST, "known").end(ALL) },
  ],
  [
    "invented names",
    {
      everyMs: 400,
      turns: 200,
      turn({ open, number }) {
        open(`/${VENDOR_TYPES}.iam.Groups/Invented${number}`, "known").end(NONE);
        open(`/${VENDOR_TYPES}.invented${number}.Service/Do`, "invented").end(NONE);
      },
    },
  ],
  [
    "huge metadata",
    {
      everyMs: 250,
      turns: 100,
      turn({ open, number }) {
        const fields = number % 2 === 0 ? 110 : 12;
        const text = "v".repeat(number % 2 === 0 ? 10 : 1_500);
        const metadata = Array.from({ length: fields }, (_, at) => [`x-huge-${at}`, text] as const);
        open(LIST, "known", Object.fromEntries(metadata)).end(NONE);
      },
    },
  ],
  [
    "messages in crumbs",
    {
      everyMs: 500,
      turns: 20,
      turn({ open }) {
        const stream = open(LIST, "known");
        stream.write(announced(200));
        for (let at = 0; at < 100; at++) later(stream, at, () => void stream.write(Buffer.alloc(1)));
      },
    },
  ],
  [
    "cut connections",
    {
      everyMs: 500,
      turns: 4,
      turn({ open, number, session }) {
        open(LIST, "known").end(NONE);
        open(CREATE, "known").write(announced(LARGE.length));
        if (number % 4 === 3) session.destroy();
      },
    },
  ],
]);

/** Starts all attacks. */
export function startHostile({ url, ca, token }: Target): Hostile {
  let isOver = false;
  const made = new Map<string, number>();
  const sessions = new Set<ClientHttp2Session>();
  const loop = async (name: string, { everyMs, turns, windowBytes = 65_535, turn }: Attack): Promise<void> => {
    for (let invented = 0; !isOver; ) {
      const session = connect(url, { ca, settings: { initialWindowSize: windowBytes } });
      session.on("error", () => {});
      sessions.add(session);
      session.once("close", () => sessions.delete(session));
      const credentials = {
        known: () => ({ authorization: `Bearer ${token}` }),
        invented: () => ({ authorization: `Bearer invented-${name.length}-${invented++}` }),
        none: () => ({}),
      };
      const unfinished = new Set<ClientHttp2Stream>();
      const open: Turn["open"] = (path, who, headers = {}) => {
        made.set(name, (made.get(name) ?? 0) + 1);
        const fields = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
        const stream = session.request({ ...fields, ...credentials[who](), ...headers });
        stream.on("error", () => {}).resume();
        unfinished.add(stream);
        stream.once("close", () => unfinished.delete(stream));
        return stream;
      };
      for (let number = 0; number < turns && !isOver && !session.closed && !session.destroyed; ) {
        // On a busy machine, the calls that wait for a connection would be a flood of their own.
        if (unfinished.size < MOST_UNFINISHED) turn({ number: number++, session, open });
        await wait(everyMs);
      }
      // The ingress deals with its open calls.
      session.destroy();
      await wait(everyMs);
    }
  };
  const loops = [...ATTACKS].map(([name, attack]) => loop(name, attack));
  return {
    async stop() {
      isOver = true;
      await Promise.all(loops);
      for (const session of sessions) session.destroy();
      return Object.fromEntries(made);
    },
  };
}
