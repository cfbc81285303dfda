/** One connection of the fuzzer: it sends odd bytes and decides when the response is over. */
import { connect, type Socket } from "node:net";
import { BadAnswer, judgeAnswer, type Read, readAnswers } from "./strict-answers.ts";

/** What became of one input. */
export interface Verdict {
  /** To the input, whose last part may be what it was given to go on with. */
  readonly answers: readonly Read[];
  /** Why it is a failure; undefined: all is well. */
  readonly fault: string | undefined;
  /** Neither an answer nor the end of the connection in time. */
  readonly hung: boolean;
}

/** A connection that lives on from one input to the next until the other side closes it. */
export interface Lane {
  try(input: string): Promise<Verdict>;
  end(): void;
}

export interface LaneOptions {
  readonly port: number;
  /** Milliseconds without an answer or an end that are a hang. */
  readonly patienceMs: number;
  /** Different for each lane. */
  readonly name: string;
}

const ID = "x-request-id";
/** How long a lane waits before it gives what an unfinished input may be waiting for. No judgement depends on it. */
const NUDGE_MS = 25;
/** More than any body that is read whole. */
const FILLER = "x".repeat(70_000);

export function createLane({ port, patienceMs, name }: LaneOptions): Lane {
  let wire: Wire | undefined;
  let count = 0;
  const isOurs = ({ fields }: Read) => fields.some(([key, id]) => key === ID && id.startsWith(`${name}-`));
  return {
    async try(input) {
      wire = wire === undefined || wire.over ? await openWire(port) : wire;
      wire.text = "";
      let done = false;
      let first = input;
      for (const step of STEPS) {
        const id = `${name}-${++count}`;
        wire.socket.write(first + step + sentinel(id), "latin1");
        first = "";
        done = await within(wire, step === STEPS.at(-1) ? patienceMs : NUDGE_MS, (text) => isAnswered(text, id));
        if (done) break;
      }
      try {
        if (!done) throw new BadAnswer("neither an answer nor the end of the connection");
        const answers = readAnswers(wire.text, /HEAD/.test(input), wire.over);
        for (const answer of answers) judgeAnswer(answer);
        return { answers: answers.filter((answer) => !isOurs(answer)), fault: undefined, hung: false };
      } catch (error) {
        if (!(error instanceof BadAnswer)) throw error;
        wire.socket.destroy();
        return { answers: [], fault: error.message, hung: !done };
      }
    },
    end: () => void wire?.socket.destroy(),
  };
}

/** What an input may still want: nothing, the end of a head, more of a body, the last chunk. */
const STEPS = ["", "\r\n\r\n", `${FILLER}\r\n\r\n`, "\r\n0\r\n\r\n"];

/** A request that says where it is answered: whatever stands before that answer belongs to the input. */
const sentinel = (id: string): string =>
  `GET /iam/v2beta1/sentinel HTTP/1.1\r\nHost: api.example\r\nX-Request-Id: ${id}\r\n\r\n`;

/** True when all of the answer to that sentinel is there. */
function isAnswered(text: string, id: string): boolean {
  const at = text.indexOf(`x-request-id: ${id}\r\n`);
  if (at < 0) return false;
  const end = text.indexOf("\r\n\r\n", at);
  const length = /content-length: (\d+)\r\n/i.exec(text.slice(text.lastIndexOf("HTTP/1.1 ", at), end + 2))?.[1];
  return end >= 0 && length !== undefined && text.length >= end + 4 + Number(length);
}

/** A connection, and what came over it since somebody emptied `text`. */
interface Wire {
  readonly socket: Socket;
  text: string;
  over: boolean;
  /** Called whenever something happens. */
  look: () => void;
}

function openWire(port: number): Promise<Wire> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const wire: Wire = { socket, text: "", over: false, look: () => {} };
    socket.setNoDelay();
    socket.on("data", (chunk: Buffer) => {
      wire.text += chunk.toString("latin1");
      wire.look();
    });
    socket.on("error", reject);
    socket.on("close", () => {
      wire.over = true;
      wire.look();
    });
    socket.once("connect", () => resolve(wire));
  });
}

/** Whether `done` comes true, or the connection ends, within `ms`. */
function within(wire: Wire, ms: number, done: (text: string) => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (outcome: boolean) => {
      wire.look = () => {};
      clearTimeout(timer);
      resolve(outcome);
    };
    const timer = setTimeout(() => end(false), ms);
    wire.look = () => {
      if (wire.over || done(wire.text)) end(true);
    };
    wire.look();
  });
}
