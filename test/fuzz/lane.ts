/** What comes back for odd bytes on one connection, and when is it over? */
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

/** How long a lane waits before it gives what an unfinished input may be waiting for. No judgement depends on it. */
const ID = "x-request-id";
const NUDGE_MS = 25;
/** More than any body that is read whole. */
const FILLER = "x".repeat(70_000);

export function createLane({ port, patienceMs, name }: LaneOptions): Lane {
  let socket: Socket | undefined;
  let text = "";
  let over = false;
  let count = 0;
  let look = () => {};
  const open = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const made = connect(port, "127.0.0.1");
      text = "";
      over = false;
      made.setNoDelay();
      made.on("data", (chunk: Buffer) => {
        text += chunk.toString("latin1");
        look();
      });
      made.on("error", reject);
      made.on("close", () => {
        over = true;
        look();
      });
      made.once("connect", () => resolve(made));
    });
  /** Resolves with whether `done` came true, or the connection ended, within `ms`. */
  const within = (ms: number, done: () => boolean): Promise<boolean> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => {
        look = () => {};
        resolve(false);
      }, ms);
      look = () => {
        if (!over && !done()) return;
        look = () => {};
        clearTimeout(timer);
        resolve(true);
      };
      look();
    });
  /** A request that says where it is answered: whatever stands before that answer belongs to the input. */
  const sentinel = (): { bytes: string; answered: () => boolean } => {
    const id = `${name}-${++count}`;
    const answered = () => {
      const at = text.indexOf(`x-request-id: ${id}\r\n`);
      if (at < 0) return false;
      const end = text.indexOf("\r\n\r\n", at);
      const length = /content-length: (\d+)\r\n/i.exec(text.slice(text.lastIndexOf("HTTP/1.1 ", at), end + 2))?.[1];
      return end >= 0 && length !== undefined && text.length >= end + 4 + Number(length);
    };
    return {
      bytes: `GET /iam/v2beta1/sentinel HTTP/1.1\r\nHost: api.example\r\nX-Request-Id: ${id}\r\n\r\n`,
      answered,
    };
  };
  return {
    async try(input) {
      socket = over || socket === undefined ? await open() : socket;
      text = "";
      const mayBeHead = /HEAD/.test(input);
      // What an input may still want: nothing, the end of a head, more of a body, the last chunk.
      const steps = ["", "\r\n\r\n", `${FILLER}\r\n\r\n`, "\r\n0\r\n\r\n"];
      let done = false;
      let first = input;
      for (const step of steps) {
        const { bytes, answered } = sentinel();
        socket.write(first + step + bytes, "latin1");
        first = "";
        done = await within(step === steps.at(-1) ? patienceMs : NUDGE_MS, answered);
        if (done) break;
      }
      const verdict = (answers: readonly Read[], fault?: string): Verdict => {
        if (fault !== undefined) socket?.destroy();
        return { answers, fault, hung: !done };
      };
      if (!done) return verdict([], "neither an answer nor the end of the connection");
      try {
        const answers = readAnswers(text, mayBeHead, over);
        for (const answer of answers) judgeAnswer(answer);
        return verdict(
          answers.filter(({ fields }) => !fields.some(([key, id]) => key === ID && id.startsWith(`${name}-`))),
        );
      } catch (error) {
        if (error instanceof BadAnswer) return verdict([], error.message);
        throw error;
      }
    },
    end: () => void socket?.destroy(),
  };
}
