/**
 * A client that means harm, over gRPC and through an ingress, as a process of its own: each attack at a fixed rate, on connections of its own.
 * `node hostile.mjs '{"url", "ca", "tokens", "package"}'` runs until its input ends. Then it prints, as JSON, how the calls of each attack ended.
 */
import { once } from "node:events";
import { connect } from "node:http2";
import { setTimeout as wait } from "node:timers/promises";

/**
 * `ca`: the certificate of the authority. `tokens`: credentials that the platform accepts and that may not write, the second one for cancels.
 * `package`: of the API's services.
 */
const { url, ca, tokens, package: api } = JSON.parse(process.argv[2]);

const LIST = `/${api}.iam.Groups/List`;
const CREATE = `/${api}.iam.Groups/Create`;
/** Passed through: nothing of it is read. */
const V2_LIST = `/${api}.iam.v2beta1.GroupsService/ListGroups`;
const NOT_THERE = "/acme.nothing.v9.Service/Do";
const MIB = 2 ** 20;
const LARGE = Buffer.alloc(96 * 1024, "x");

/** The prefix of a message of that length. */
function announced(bytes) {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes, 1);
  return prefix;
}

const framed = (message) => Buffer.concat([announced(message.length), message]);
/** Every group there is: work for all. */
const ALL = framed(Buffer.alloc(0));
/** Those with the name "none". */
const NONE = framed(Buffer.from("\x1a\x04none"));

/** Sends later what is sent after a head. */
function later(stream, ms, send) {
  setTimeout(() => {
    if (!stream.destroyed) send();
  }, ms);
}

/**
 * Turns that each attack makes in a second, until `most` were made; turns of one connection, and open calls beyond which it waits.
 * On a busy machine, calls that wait for a connection would be a flood of their own.
 */
const USUAL = { turns: 200, open: 24, most: Number.POSITIVE_INFINITY, settings: {} };

const ATTACKS = {
  "invented tokens": { perSecond: 25, turn: ({ open }) => open(LIST, "invented").end(NONE) },
  // A reset instead of time to end breaks the next call of another client (nginx), or wears out the connection for all.
  "refused before they are whole": {
    perSecond: 250,
    open: 100,
    turn({ open, number }) {
      const stream = open(NOT_THERE, "none");
      stream.write(framed(Buffer.alloc(100)));
      if (number % 3 === 0) later(stream, number % 9, () => stream.end());
      else stream.end();
    },
  },
  "refused early, with a large body": {
    perSecond: 10,
    turn({ open, number }) {
      const stream = open(NOT_THERE, "none");
      stream.write(framed(LARGE));
      later(stream, number % 9, () => stream.end());
    },
  },
  "larger than allowed": {
    perSecond: 10,
    turn({ open }) {
      const stream = open(CREATE, "known");
      stream.write(announced(64 * MIB));
      stream.end(LARGE);
    },
  },
  "messages that never come": {
    perSecond: 15,
    open: 60,
    turns: 10_000,
    turn({ open, number }) {
      const stream = open(number % 3 === 0 ? V2_LIST : LIST, number % 2 === 0 ? "known" : "invented");
      if (number % 4 !== 0) stream.write(Buffer.concat([announced(4 * MIB - 64), Buffer.alloc(10)]));
    },
  },
  // Faster than a connection of Node 20 bears from all its clients (1,000, then 33 a second), and no more than is refused in time.
  "rapid cancels": {
    perSecond: 500,
    open: 100,
    most: 1_500,
    // Envoy ends a connection after 500 calls that were mostly reset.
    turns: 300,
    turn({ open, cancel }) {
      const stream = open(LIST, "cancelling");
      stream.end(ALL);
      later(stream, 200, () => cancel(stream, 8));
    },
  },
  "resets after the head of a response": {
    perSecond: 4,
    turn({ open, cancel }) {
      const stream = open(LIST, "known");
      stream.end(NONE);
      stream.once("response", () => cancel(stream, 2));
    },
  },
  "readers that read nothing": {
    perSecond: 5,
    settings: { initialWindowSize: 0 },
    turn: ({ open }) => open(LIST, "known").end(ALL),
  },
  "invented names": {
    perSecond: 10,
    turn({ open, number }) {
      open(`/${api}.iam.Groups/Invented${number}`, "known").end(NONE);
      open(`/${api}.invented${number}.Service/Do`, "invented").end(NONE);
    },
  },
  "huge metadata": {
    perSecond: 10,
    turn({ open, number }) {
      const fields = number % 2 === 0 ? 110 : 12;
      const text = "v".repeat(number % 2 === 0 ? 10 : 1_500);
      const metadata = Array.from({ length: fields }, (_, at) => [`x-huge-${at}`, text]);
      open(LIST, "known", Object.fromEntries(metadata)).end(NONE);
    },
  },
  "messages in crumbs": {
    perSecond: 2,
    turns: 20,
    turn({ open }) {
      const stream = open(LIST, "known");
      stream.write(announced(200));
      for (let at = 0; at < 100; at++) later(stream, at, () => stream.write(Buffer.alloc(1)));
    },
  },
  "cut connections": {
    perSecond: 2,
    turns: 4,
    turn({ open, number, session }) {
      open(LIST, "known").end(NONE);
      open(CREATE, "known").write(announced(LARGE.length));
      if (number % 4 === 3) session.destroy();
    },
  },
};

let isOver = false;
/** Attack, outcome: calls. */
const outcomes = Object.fromEntries(Object.keys(ATTACKS).map((name) => [name, {}]));

function note(name, what) {
  outcomes[name][what] = (outcomes[name][what] ?? 0) + 1;
}

async function attack(name, { perSecond, turn, ...rest }) {
  const { turns, open: mostOpen, most, settings } = { ...USUAL, ...rest };
  const began = performance.now();
  let number = 0;
  let invented = 0;
  while (!isOver && number < most) {
    const session = connect(url, { ca, settings });
    session.on("error", () => {});
    const credentials = {
      known: () => ({ authorization: `Bearer ${tokens[0]}` }),
      cancelling: () => ({ authorization: `Bearer ${tokens[1]}` }),
      invented: () => ({ authorization: `Bearer invented-${name.length}-${invented++}` }),
      none: () => ({}),
    };
    const unfinished = new Set();
    const cancelled = new Set();
    const open = (path, who, headers = {}) => {
      const fields = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
      const stream = session.request({ ...fields, ...credentials[who](), ...headers });
      let status;
      const see = (seen) => {
        status = seen["grpc-status"] ?? status ?? (seen[":status"] === 200 ? undefined : `HTTP ${seen[":status"]}`);
      };
      stream.on("error", () => {}).resume();
      stream.on("response", see).on("trailers", see);
      unfinished.add(stream);
      stream.once("close", () => {
        unfinished.delete(stream);
        const ownEnd = cancelled.has(stream) ? "cancelled" : session.destroyed ? "connection ended" : undefined;
        note(name, status === undefined ? (ownEnd ?? `reset ${stream.rstCode}`) : `status ${status}`);
      });
      return stream;
    };
    const cancel = (stream, code) => {
      cancelled.add(stream);
      stream.close(code);
    };
    const last = number + turns;
    while (number < last && number < most && !isOver && !session.closed && !session.destroyed) {
      const due = ((performance.now() - began) * perSecond) / 1_000;
      while (number < due && number < last && unfinished.size < mostOpen && !session.destroyed) {
        turn({ number: number++, session, open, cancel });
      }
      await wait(5);
    }
    // Calls that are about to end do. The ingress deals with the others.
    for (let i = 0; i < 60 && unfinished.size > 0 && !session.destroyed; i++) await wait(5);
    session.destroy();
    await wait(5);
  }
}

const began = performance.now();
const attacks = Object.entries(ATTACKS).map(([name, one]) => attack(name, one));
process.stdin.resume();
await once(process.stdin, "end");
isOver = true;
await Promise.all(attacks);
await wait(50);
process.stdout.write(JSON.stringify({ seconds: (performance.now() - began) / 1_000, outcomes }));
process.exit();
