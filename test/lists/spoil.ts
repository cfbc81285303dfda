/** Pages that are none, each wrong in its own way. */
import { type Ask, type Page, recordOf, write } from "./pages.ts";
import type { Fault, Reply } from "./platform.ts";

const reply = (body: Reply["body"], rest: Partial<Reply> = {}): Reply => ({ status: 200, body, ...rest });
const half = (text: string) => text.slice(0, Math.floor(text.length / 2));

/** The page with `key` instead of its records' member; undefined: without it. */
function renamed(page: Page, ask: Ask, key: string | undefined): Reply {
  const { [ask.collection]: records, ...rest } = JSON.parse(write(page, ask)) as Record<string, unknown>;
  return reply(JSON.stringify(key === undefined ? rest : { [key]: records, ...rest }));
}

function withRecords(page: Page, ask: Ask, records: string): Reply {
  return reply(write({ ...page, rows: [] }, ask).replace("[]", records));
}

function withMember(name: string, value: unknown): Fault {
  return (page) => ({ ...page, members: { ...page.members, [name]: value } });
}

const own = (page: Page, ask: Ask) => page.rows.map((row) => recordOf(row, ask.who, ask.collection));
const MiB = 1024 ** 2;

/** So many bytes of valid page, made as they are taken. */
function* endless(page: Page, ask: Ask, bytes: number): Generator<Uint8Array> {
  const [head, tail] = write({ ...page, rows: [] }, ask).split("[]") as [string, string];
  yield Buffer.from(`${head}[${own(page, ask)[0]}`);
  const piece = Buffer.from(`,${own(page, ask)[0]}`.repeat(200));
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
  yield Buffer.from(`]${tail}`);
}

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

export interface Spoiled {
  readonly name: string;
  readonly fault: Fault;
  /** Without looking elsewhere it cannot be told from a page that is right. */
  readonly plausible?: true;
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
  { name: "cut off in a string", fault: (page, ask) => reply(write(page, ask).slice(0, 25)) },
  { name: "nothing", fault: () => reply("") },
  { name: "not JSON", fault: () => reply("<html>busy</html>", { headers: { "content-type": "text/html" } }) },
  { name: "not JSON, called JSON", fault: () => reply("upstream connect error") },
  {
    name: "not UTF-8",
    fault: (page, ask) => reply(Buffer.from(write(page, ask).replace("name", "\xff\xfe"), "latin1")),
  },
  { name: "an array", fault: (page, ask) => reply(`[${own(page, ask).join(",")}]`) },
  { name: "null", fault: () => reply("null") },
  { name: "a string", fault: () => reply('"ok"') },
  { name: "two pages in one", fault: (page, ask) => reply(write(page, ask) + write(page, ask)) },
  { name: "an error body", fault: () => reply('{"code":13,"message":"internal","details":[]}') },
  { name: "an error body of another kind", fault: () => reply('{"error":{"status":"UNAVAILABLE"}}') },
  { name: "a greeting", fault: () => reply('{"status":"ok"}') },
  {
    name: "201 records",
    fault: (page, ask) => withRecords(page, ask, `[${Array(201).fill(own(page, ask)[0]).join(",")}]`),
  },
  {
    name: "201 different records",
    fault: (page, ask) => {
      const more = Array.from({ length: 201 - page.rows.length }, (_, index) => ({
        uid: `${page.rows.at(-1)?.uid ?? "a"}/zz${index}`,
        name: "n1",
        created: 0,
      }));
      return withRecords(
        page,
        ask,
        `[${[...own(page, ask), ...more.map((row) => recordOf(row, ask.who, ask.collection))].join(",")}]`,
      );
    },
  },
  {
    name: "a record without uid",
    fault: (page, ask) => withRecords(page, ask, `[${own(page, ask).slice(1).join(",")},{"name":"x"}]`),
  },
  {
    name: "a record with an empty uid",
    fault: (page, ask) => withRecords(page, ask, `[${own(page, ask).slice(1).join(",")},{"uid":""}]`),
  },
  {
    name: "a record whose uid is null",
    fault: (page, ask) => withRecords(page, ask, `[{"uid":null},${own(page, ask).slice(1).join(",")}]`),
  },
  {
    name: "a record whose uid is a number",
    fault: (page, ask) => withRecords(page, ask, `[{"uid":7},${own(page, ask).slice(1).join(",")}]`),
  },
  {
    name: "a record that is a string",
    fault: (page, ask) => withRecords(page, ask, `[${own(page, ask).slice(1).join(",")},"x"]`),
  },
  {
    name: "a record that is null",
    fault: (page, ask) => withRecords(page, ask, `[${own(page, ask).slice(1).join(",")},null]`),
  },
  {
    name: "a record with two uids",
    fault: (page, ask) => withRecords(page, ask, `[{"uid":"a","uid":"b"},${own(page, ask).slice(1).join(",")}]`),
  },
  { name: "records that are an object", fault: (page, ask) => withRecords(page, ask, "{}") },
  { name: "records that are a string", fault: (page, ask) => withRecords(page, ask, '"none"') },
  { name: "records under another name", fault: (page, ask) => renamed(page, ask, "records") },
  { name: "a token that is a number", fault: withMember("nextPageToken", 7) },
  { name: "a token that is an object", fault: withMember("nextPageToken", { at: 7 }) },
  { name: "a token that is an array", fault: withMember("nextPageToken", ["a"]) },
  { name: "a token that is true", fault: withMember("nextPageToken", true) },
  { name: "100 MB", fault: (page, ask) => reply(endless(page, ask, 100 * MiB)), wire: true },
  { name: "deeper than anything", fault: (page, ask) => withRecords(page, ask, nested(10_000)) },
  {
    name: "a record deeper than anything",
    fault: (page, ask) =>
      withRecords(page, ask, `[{"uid":"a","x":${nested(10_000)}},${own(page, ask).slice(1).join(",")}]`),
  },
  {
    name: "compressed with what nobody knows",
    fault: () => reply("xxxx", { headers: { "content-encoding": "lzma" } }),
    wire: true,
  },
  {
    name: "called gzip and not",
    fault: (page, ask) => reply(write(page, ask), { headers: { "content-encoding": "gzip" } }),
    wire: true,
  },
  { name: "without its records", fault: (page, ask) => renamed(page, ask, undefined), plausible: true },
  { name: "with null for its records", fault: (page, ask) => withRecords(page, ask, "null"), plausible: true },
  { name: "an empty object", fault: () => reply("{}"), plausible: true },
];

/** `fault` on pages that hold the record of this rank, `times` times. */
export function onRank(rank: number, fault: Fault, times = Number.POSITIVE_INFINITY): Fault {
  const state = { left: times };
  return (page, ask, shelf) => {
    const hit = page.start <= rank && rank < page.start + page.rows.length && state.left > 0;
    if (!hit) return page;
    state.left -= 1;
    return fault(page, ask, shelf);
  };
}

export const refusal = (status: number, headers: Record<string, string> = {}): Fault => {
  const code =
    new Map([
      [400, 3],
      [401, 16],
      [403, 7],
      [404, 5],
      [429, 8],
      [500, 13],
      [503, 14],
    ]).get(status) ?? 2;
  return () => reply(JSON.stringify({ code, message: `as told: ${status}`, details: [] }), { status, headers });
};
