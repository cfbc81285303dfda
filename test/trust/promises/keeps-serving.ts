/** What may happen around carryover without ending it? */
import { row, type TrustPromise } from "../row.ts";

export const KEEPS_SERVING: readonly TrustPromise[] = [
  {
    title: "A platform that fails is answered for, and not run down",
    says: "Every failure is one clean answer in bounded time, and carryover never adds to the load of a platform that struggles.",
    rows: [
      row("T-FLT-01", "a platform that is down is answered for at once, without its address"),
      row("T-FLT-02", "one that accepts and says nothing is given up in time"),
      row("T-FLT-03", "one that cannot be connected to is given up in time"),
      row("T-FLT-06", "one that is overloaded is asked hardly more often than clients ask"),
      row("T-FLT-07", "`Retry-After` is kept in every form, bounded, and handed on"),
      row("T-FLT-08", "retries heal few failures and stay within their budget when there are many"),
      row("T-FLT-10", "answers that are no HTTP are one clean error"),
      row("T-FLT-12", "an answer that stalls is given up"),
      row("T-FLT-13", "an answer that drips is given up at the deadline"),
      row("T-FLT-15", "an answer that unpacks without end is refused"),
      row("T-FLT-16", "name resolution that fails or changes is followed"),
      row("T-FLT-18", "odd header values of an answer are cleaned or refused"),
      row("T-FLT-20", "trailers of any kind crash nothing"),
      row("T-FLT-25", "a platform that comes and goes is used while it is there"),
    ],
  },
  {
    title: "Time is bounded everywhere",
    says: "Every wait has an end: of carryover for the platform and for a client, and of a client for carryover.",
    rows: [
      row("T-TMO-01", "the head of a request"),
      row("T-TMO-02", "the whole request"),
      row("T-TMO-03", "connecting to the platform"),
      row("T-TMO-04", "the first byte of an answer"),
      row("T-TMO-05", "a pause inside an answer"),
      row("T-TMO-06", "everything together"),
      row("T-TMO-07", "a list of many pages"),
      row("T-SLO-01", "clients that drip their heads are closed, and others do not notice"),
      row("T-SLO-02", "clients that drip their bodies are closed"),
      row("T-SLO-03", "clients that never read are closed, and cost a bounded amount"),
      row("T-SLO-04", "thousands of idle connections cost little, and are closed"),
      row("T-SLO-05", "a client that has closed its sending side has left, and its calls are cancelled"),
    ],
  },
  {
    title: "Overload is turned away early",
    says: "More work than fits is refused at once with a time to come back; what was accepted is still done at nearly full speed.",
    rows: [
      row("T-LOD-01", "pass-through under load: rate and latency, no errors"),
      row("T-LOD-02", "translated single records under load"),
      row("T-LOD-03", "translated lists under load"),
      row("T-LOD-04", "all of it mixed"),
      row("T-LOD-05", "three times what fits: goodput stays, the rest is refused quickly, and it recovers"),
      row("T-LOD-06", "many long lists leave pass-through its speed"),
      row("T-LOD-12", "the event loop is never held up for long"),
      row("T-LOD-11", "hours under load and faults: memory, connections and timers stay flat"),
    ],
  },
  {
    title: "Trouble inside stays inside",
    says: "An error in one request ends that request; the process outlives what its machine does to it.",
    rows: [
      row("T-FLT-19", "an error thrown anywhere is one failed request"),
      row("T-FLT-21", "running out of file descriptors refuses connections, and passes"),
      row("T-FLT-22", "jumps of the clock change no timer"),
      row("T-FLT-23", "a log that nobody reads stops no request and keeps bounded memory"),
    ],
  },
  {
    title: "It starts and stops cleanly",
    says: "A start refuses what is wrong and names it; a stop loses no byte of what was accepted.",
    rows: [
      row("T-LOD-07", "SIGTERM under load: nothing is lost, clients are told, exit 0"),
      row("T-LOD-08", "SIGTERM with a platform that hangs ends in time"),
      row("T-LOD-09", "rolling restarts of two instances fail no repeatable request"),
      row("T-LOD-10", "SIGKILL leaves broken answers and never short ones"),
      row("T-LOD-13", "a wrong configuration is refused, by name"),
      row("T-LOD-14", "it runs without root, on a read-only file system, in little memory"),
    ],
  },
];
