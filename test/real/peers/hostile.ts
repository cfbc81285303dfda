/** Requests that smuggle: what HTTP parsers disagree about, in combinations, with a request hidden behind it. (test/corpus has each alone.) */
import { createRandom } from "../../../sandbox/src/seed/prng.ts";
import {
  CHUNK_ENDS,
  CHUNK_SIZES,
  CHUNKED,
  CODINGS,
  FIELDS,
  GOOD_SIZES,
  IDENTITY,
  LENGTHS,
  TRAILERS,
} from "../../support/hostile/fields.ts";
import { mutate } from "../../support/hostile/mutate.ts";
import { PASSED } from "../../support/hostile/targets.ts";

export interface Hostile {
  readonly name: string;
  /** Latin-1: one character is one byte. */
  readonly bytes: string;
  /** Said in HTTP/2. */
  readonly h2?: true;
}

/** What a smuggled request would ask for. It never may reach the platform but as a request of its own. */
export const HIDDEN = "GET /hidden HTTP/1.1\r\nHost: hidden.example\r\nX-Front-Id: forged\r\n\r\n";

const LAST = "0\r\n\r\n";
const head = (fields: string, line = "POST /x HTTP/1.1"): string => `${line}\r\nHost: a.example\r\n${fields}\r\n\r\n`;
const texts = (...tables: readonly Readonly<Record<string, string>>[]): string[] => tables.flatMap(Object.values);

/** Framings that end the body in different places for different readers. */
function framings(): Hostile[] {
  // Some names have an underscore, and those whom Connection names are for this connection only.
  const codings = ["Transfer_Encoding: chunked", ...texts(CODINGS, IDENTITY, CHUNKED)];
  const lengths = Object.values(LENGTHS).concat(
    (bytes) => `Content-Length: ${bytes}`,
    (bytes) => `Content-Length: 0${bytes}`,
    (bytes) => `Content-Length: ${bytes} `,
    (bytes) => `Content_Length: ${bytes}`,
    (bytes) => `Connection: Content-Length\r\nContent-Length: ${bytes}`,
  );
  const behind = `${LAST}${HIDDEN}`;
  // The other way round: the chunk is whole for who reads chunks, and holds a request for who reads the length.
  const size = `${HIDDEN.length.toString(16)}\r\n`;
  const inside = `${size}${HIDDEN}\r\n${LAST}`;
  return [
    ...codings.flatMap((coding) => [
      { name: `length before ${coding}`, bytes: head(`Content-Length: ${behind.length}\r\n${coding}`) + behind },
      { name: `length behind ${coding}`, bytes: head(`${coding}\r\nContent-Length: ${behind.length}`) + behind },
      { name: `short length and ${coding}`, bytes: head(`Content-Length: ${size.length}\r\n${coding}`) + inside },
      { name: `only ${coding}`, bytes: head(coding) + inside },
      { name: `HTTP/1.0 and ${coding}`, bytes: head(coding, "POST /x HTTP/1.0") + inside },
    ]),
    ...lengths.flatMap((of) => [
      { name: of(5), bytes: head(of(HIDDEN.length)) + HIDDEN },
      { name: `GET with ${of(5)}`, bytes: head(of(HIDDEN.length), "GET /x HTTP/1.1") + HIDDEN },
    ]),
  ];
}

function chunks(): Hostile[] {
  const bodies = [
    ...texts(CHUNK_SIZES, GOOD_SIZES).map((size) => `${size}\r\nhello\r\n${LAST}`),
    ...texts(CHUNK_ENDS),
    ...TRAILERS.map((trailer) => `5\r\nhello\r\n0\r\n${trailer}\r\n\r\n`),
  ];
  return bodies.map((body) => ({
    name: `chunks ${JSON.stringify(body)}`,
    bytes: head("Transfer-Encoding: chunked") + body + HIDDEN,
  }));
}

const BASICS: readonly Hostile[] = [
  { name: "a preface of HTTP/2", bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0" },
  { name: "a line end before the request", bytes: "\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n" },
  { name: "line ends without CR", bytes: `GET /x HTTP/1.1\nHost: a\n\n${HIDDEN}` },
  { name: "a CR at the end of the head", bytes: `GET /x HTTP/1.1\r\nHost: a\r\n\r${HIDDEN}` },
  { name: "two requests at once", bytes: `GET /x?1 HTTP/1.1\r\nHost: a\r\n\r\nGET /x?2 HTTP/1.1\r\nHost: a\r\n\r\n` },
];

/** Everything above, each with a name of its own. */
export function hostile(): Hostile[] {
  const plain = (line: string) => ({ name: line, bytes: head("Connection: keep-alive", line) });
  return [
    ...framings(),
    ...chunks(),
    ...BASICS,
    ...FIELDS.flatMap((fields) => [
      { name: fields, bytes: head(fields, "GET /x HTTP/1.1") },
      { name: `v1 with ${fields}`, bytes: head(fields, "GET /iam/v1/groups HTTP/1.1") },
      {
        name: `v2 with ${fields}`,
        bytes: `${head(`${fields}\r\nContent-Length: 5`, "POST /iam/v2beta1/groups HTTP/1.1")}hello`,
      },
    ]),
    ...[...PASSED, "/iam/v1/groups/a:check", "/sts/exchange?aud=a"].map((target) => plain(`GET ${target} HTTP/1.1`)),
    ...["OPTIONS /x HTTP/1.1", "HEAD /x HTTP/1.1", "GET /x HTTP/1.0"].map(plain),
  ];
}

/** `count` requests, each one of `seeds` after some mutations. One seed always makes the same ones. */
export function mutants(seeds: readonly Hostile[], count: number, seed: number): Hostile[] {
  const random = createRandom(String(seed));
  const pick = () => seeds[random.int(seeds.length)] ?? { name: "nothing", bytes: "" };
  return Array.from({ length: count }, (_, number) => {
    const { name, bytes } = pick();
    return { name: `mutant ${number} of ${name}`, bytes: mutate({ text: bytes, other: pick().bytes, random }) };
  });
}
