/** Does it matter where the bytes of a body are cut on their way? (Every place, in a client's body and in an upstream's answer.) */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Rig, rig } from "../../app/rig.ts";
import { type Client, dial } from "../../listener/support/client.ts";
import { createDouble, type Double, ok } from "../../listener/support/double.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

const UID = "abc/def";
const GROUP = `/iam/v1/groups/${UID}`;
/** Escapes, characters of every length, white space, numbers, and a name in escapes: whatever a cut could tear apart. */
const RECORD = `{ "uid" : "${UID}", "n\\u0061me":"\\u00e9\\ud83d\\ude00 \\"é€😀\\\\", "description":"","x":[1.5e-3,true,null,{"y":[]}] }`;
const BODY = '{ "n\\u0061me":"\\u00e9\\ud83d\\ude00 \\"é€😀\\\\" , "description" : "" }';
const PAGE = `{"groups":[${RECORD},${RECORD.replace(UID, "abc")}],"nextPageToken":"","totalCount":"2"}`;

const bytesOf = (text: string): string => Buffer.from(text).toString("latin1");
/** `text` cut at these places, each piece a chunk. */
function chunks(text: string, cuts: readonly number[]): readonly string[] {
  const ends = [...cuts, text.length];
  return ends.map((end, i) => {
    const piece = text.slice(i === 0 ? 0 : ends[i - 1], end);
    return piece === "" ? "" : `${piece.length.toString(16)}\r\n${piece}\r\n`;
  });
}

let pieces: readonly string[] = [];
let double: Double;
let here: Rig;
let client: Client;
beforeAll(async () => {
  double = await createDouble((request, socket) => {
    if (request.body.length > 0) socket.write(ok(`{"uid":"${UID}",${request.body.toString().slice(1)}`));
    else
      void inTurn(socket.write.bind(socket), [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        ...pieces,
        "0\r\n\r\n",
      ]);
  });
  here = await rig({ v2Url: double.url, native: false });
  client = await dial(Number(new URL(here.url).port));
});
afterAll(async () => {
  client.leave();
  await here.close();
  await double.close();
});

/** Each piece in a packet of its own, as far as the machine lets it. */
async function inTurn(write: (bytes: string, encoding: "latin1") => unknown, all: readonly string[]): Promise<void> {
  for (const piece of all) {
    if (piece !== "") write(piece, "latin1");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The body of the answer to one request on the one connection, its pieces in turn. */
async function answered(all: readonly string[]): Promise<string> {
  const before = client.text().length;
  await inTurn((bytes) => client.send(bytes), all);
  const isWhole = (text: string): boolean => {
    const end = text.indexOf("\r\n\r\n", before);
    const length = /content-length: (\d+)/i.exec(text.slice(before, end + 2))?.[1];
    return end > 0 && length !== undefined && text.length >= end + 4 + Number(length);
  };
  const text = (await client.until(isWhole)).slice(before);
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  return text.slice(text.indexOf("\r\n\r\n") + 4);
}

/** Every one place, and in the long run every two. */
function* cutsOf(text: string): Generator<readonly number[]> {
  for (let one = 1; one < text.length; one++) {
    yield [one];
    for (let two = one + 1; two < text.length; two += scale(text.length, 3)) yield [one, two];
  }
}

const HEAD = "Host: a\r\nAuthorization: Bearer t\r\n";

describe("wherever bytes are cut", () => {
  it("T-SMG-31: a client's body is read as if it had come in one piece", { timeout: 900_000 }, async () => {
    const body = bytesOf(BODY);
    const put = `PUT ${GROUP} HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
    const whole = await answered([put, ...chunks(body, []), "0\r\n\r\n"]);
    const sent = double.requests.at(-1)?.body.toString();
    expect(JSON.parse(sent ?? "")).toMatchObject({ name: 'é😀 "é€😀\\', description: "" });
    let tried = 0;
    for (const cuts of cutsOf(body)) {
      tried++;
      const answer = await answered([put, ...chunks(body, cuts), "0\r\n\r\n"]);
      expect([cuts, answer, double.requests.at(-1)?.body.toString()]).toEqual([cuts, whole, sent]);
    }
    figure("T-SMG-31", "cuts of a client's body", tried, "cuts");
    expect(tried).toBeGreaterThanOrEqual(body.length - 1);
  });

  it.each([
    ["a record", GROUP, RECORD],
    ["a page", "/iam/v1/groups", PAGE],
  ])(
    "T-SMG-31: %s of an upstream is read as if it had come in one piece",
    { timeout: 900_000 },
    async (_, target, answer) => {
      const body = bytesOf(answer);
      const get = `GET ${target} HTTP/1.1\r\n${HEAD}\r\n`;
      pieces = chunks(body, []);
      const whole = await answered([get]);
      expect(JSON.stringify(JSON.parse(Buffer.from(whole, "latin1").toString()))).toContain('"name":"é😀 \\"é€😀\\\\"');
      let tried = 0;
      for (const cuts of cutsOf(body)) {
        tried++;
        pieces = chunks(body, cuts);
        expect([cuts, await answered([get])]).toEqual([cuts, whole]);
      }
      figure("T-SMG-31", "cuts of an upstream's answer", tried, "cuts");
      expect(tried).toBeGreaterThanOrEqual(body.length - 1);
    },
  );
});
