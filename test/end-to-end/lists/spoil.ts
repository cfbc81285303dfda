/** Pages that are none. What is no JSON, or JSON of another shape, the tests of src/json/rewrite.ts tell apart. */
import { type Ask, type Page, recordOf, write } from "./pages.ts";
import type { Fault, Reply } from "./platform.ts";

const reply = (body: Reply["body"], rest: Partial<Reply> = {}): Reply => ({ status: 200, body, ...rest });
const half = (text: string) => text.slice(0, Math.floor(text.length / 2));
const own = (page: Page, ask: Ask) => page.rows.map((row) => recordOf(row, ask.who, ask.collection));
const withRecords = (page: Page, ask: Ask, records: string): Reply =>
  reply(write({ ...page, rows: [] }, ask).replace("[]", records));

/** 100 MB of valid page, made as they are taken. */
function* endless(page: Page, ask: Ask): Generator<Uint8Array> {
  const [head, tail] = write({ ...page, rows: [] }, ask).split("[]") as [string, string];
  yield Buffer.from(`${head}[${own(page, ask)[0]}`);
  const piece = Buffer.from(`,${own(page, ask)[0]}`.repeat(200));
  for (let sent = 0; sent < 100 * 1024 ** 2; sent += piece.length) yield piece;
  yield Buffer.from(`]${tail}`);
}

function withoutRecords(page: Page, ask: Ask): Reply {
  const { [ask.collection]: _, ...rest } = JSON.parse(write(page, ask)) as Record<string, unknown>;
  return reply(JSON.stringify(rest));
}

export interface Spoiled {
  readonly name: string;
  readonly fault: Fault;
  /** It is wrong on the connection, so it needs one. */
  readonly wire?: true;
}

/** None of these can be read as a page; all of them with status 200. */
export const SPOILED: readonly Spoiled[] = [
  { name: "cut off, its length right", fault: (page, ask) => reply(half(write(page, ask))) },
  {
    name: "cut off, its length wrong",
    fault: (page, ask) => reply(half(write(page, ask)), { declared: write(page, ask).length }),
    wire: true,
  },
  { name: "nothing", fault: () => reply("") },
  { name: "an array", fault: (page, ask) => reply(`[${own(page, ask).join(",")}]`) },
  { name: "an error body", fault: () => reply('{"code":13,"message":"internal","details":[]}') },
  { name: "a greeting", fault: () => reply('{"status":"ok"}') },
  {
    name: "201 records",
    fault: (page, ask) => withRecords(page, ask, `[${Array(201).fill(own(page, ask)[0]).join(",")}]`),
  },
  {
    name: "a record without uid",
    fault: (page, ask) => withRecords(page, ask, `[${own(page, ask).slice(1).join(",")},{"name":"x"}]`),
  },
  {
    name: "a token that is an object",
    fault: (page) => ({ ...page, members: { ...page.members, nextPageToken: { at: 7 } } }),
  },
  { name: "100 MB", fault: (page, ask) => reply(endless(page, ask)), wire: true },
];

/** By themselves these cannot be distinguished from a correct page. */
export const PLAUSIBLE: readonly Spoiled[] = [
  { name: "without its records", fault: withoutRecords },
  { name: "with null for its records", fault: (page, ask) => withRecords(page, ask, "null") },
  { name: "an empty object", fault: () => reply("{}") },
];

/** `fault` on pages that hold the record of this rank. */
export function onRank(rank: number, fault: Fault): Fault {
  return (page, ask, shelf) => {
    const hit = page.start <= rank && rank < page.start + page.rows.length;
    return hit ? fault(page, ask, shelf) : page;
  };
}

/** The codes that go with a status, as far as they are used. */
const CODES: Readonly<Record<number, number>> = { 404: 5, 429: 8, 500: 13 };

export const refusal = (status: number, headers: Record<string, string> = {}): Fault => {
  const body = JSON.stringify({ code: CODES[status], message: `as told: ${status}`, details: [] });
  return () => reply(body, { status, headers });
};
