/**
 * Draws docs/architecture.svg from the imports of `src`. A folder or file of `src` that has no place here is an error, and so is an
 * arrow that would go up.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export interface Box {
  readonly name: string;
  readonly says: string;
  readonly at?: number;
  readonly files?: readonly string[];
}

interface Floor {
  readonly floor: string;
  readonly says: string;
  readonly rows: readonly (readonly Box[])[];
}

/** From one box to another. */
export type Pair = readonly [from: string, to: string];

/** A box with its place. */
interface Placed extends Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly row: readonly Box[];
}

interface Band extends Floor {
  readonly top: number;
  readonly height: number;
}

interface Drawing {
  /** By name. */
  box(name: string): Placed;
  readonly rows: readonly (readonly Placed[])[];
  readonly pairs: readonly Pair[];
  /** How many arrows pass a row at a place already. */
  readonly taken: Map<string, number>;
}

/**
 * Rows from the top; a floor may have several. A box stands for a room of `src`, with the file of the same name beside it, or for
 * what `files` names; `at` is the place of its middle from left (0) to right (1), where it is not one of several at equal distances.
 */
export const FLOORS: readonly Floor[] = [
  {
    floor: "3",
    says: "commands, and what builds every part once",
    rows: [
      [
        {
          name: "cli",
          at: 0.36,
          says: "argv, start, stop",
          files: ["main.ts", "cli.ts", "serve.ts", "announce.ts", "listen-fault.ts", "option-hint.ts"],
        },
        { name: "index", at: 0.7, says: "inside another program", files: ["index.ts", "embedded-config.ts"] },
      ],
      [
        { name: "demo", at: 0.9, says: "sandbox and carryover" },
        { name: "check", at: 0.2, says: "does this platform fit?" },
        { name: "report", at: 0.5, says: "how far, who is left?" },
      ],
      [
        {
          name: "app",
          at: 0.78,
          says: "builds every part once",
          files: ["app.ts", "migration.ts", "views.ts", "admin-token.ts"],
        },
      ],
      [{ name: "explain", at: 0.36, says: "what becomes of a request" }],
      [{ name: "migration", at: 0.33, says: "who calls, by which rules", files: ["migration"] }],
      [
        { name: "proxy", at: 0.14, says: "THE SENTENCE; which mode", files: ["proxy.ts", "decide.ts"] },
        {
          name: "tools",
          at: 0.5,
          says: "what operations may do",
          files: ["tools.ts", "upstreams.ts", "renewal.ts", "own-words.ts"],
        },
        {
          name: "prepare",
          at: 0.72,
          says: "what commands are given",
          files: ["prepare.ts", "assumed-config.ts", "token-given.ts", "version.ts"],
        },
      ],
    ],
  },
  {
    floor: "2",
    says: "I/O",
    rows: [
      [
        { name: "shadow", says: "compares" },
        { name: "share", says: "equal lists" },
        { name: "upstream", says: "calls, lists" },
        { name: "listener", says: "clients in" },
        { name: "ledger", says: "who calls v1" },
        { name: "control", says: "rules in force" },
        { name: "config", says: "options, rules" },
        { name: "observe", says: "metrics, log" },
        { name: "admin", says: "operators in" },
      ],
    ],
  },
  {
    floor: "1",
    says: "pure: no I/O, no clock",
    rows: [
      [
        { name: "route", says: "which operation is it?" },
        { name: "translate", says: "v1 in, v2 calls, v1 out" },
        { name: "cutover", says: "choose, compare, step back" },
        { name: "catalogue", says: "v1 beside v2, as data" },
      ],
    ],
  },
  {
    floor: "0",
    says: "knows no version",
    rows: [
      [
        { name: "json", at: 0.4, says: "rewrites bytes" },
        { name: "model", at: 0.75, says: "nouns that everybody uses" },
      ],
    ],
  },
];

/** What of `src` a box stands for: `explain` is the folder and `explain.ts`. */
export const filesOf = ({ name, files }: Box): readonly string[] => files ?? [name, `${name}.ts`];

/** The first part of a path below `src`: a folder, or a file of the top. */
const roomOf = (file: string): string => file.split("/")[0] ?? "";

/** `[from, to]` of boxes, each once, as the files of `src` import each other. Throws for a room without a box. */
export function importsOf(src: string): readonly Pair[] {
  const boxes = new Map(
    FLOORS.flatMap(({ rows }) => rows.flat()).flatMap((box) => filesOf(box).map((file) => [file, box.name] as const)),
  );
  const boxOf = (file: string): string => {
    const box = boxes.get(roomOf(file));
    if (box === undefined)
      throw new Error(
        `src/${file} has no place on the picture: give ${roomOf(file)} one in scripts/docs/architecture.ts`,
      );
    return box;
  };
  const found = new Map<string, Pair>();
  for (const file of readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))) {
    const from = boxOf(file);
    for (const [, path = ""] of readFileSync(join(src, file), "utf8").matchAll(/(?:from|import\(?)\s*"(\.[^"]+)"/g)) {
      const to = boxOf(relative(src, resolve(src, dirname(file), path)));
      if (from !== to) found.set(`${from} ${to}`, [from, to]);
    }
  }
  return [...found.values()].toSorted((a, b) => a.join(" ").localeCompare(b.join(" ")));
}

/** Those that do not follow from others: an arrow is left out where a longer way leads to the same box. */
export function reduced(pairs: readonly Pair[]): readonly Pair[] {
  const next = new Map<string, string[]>();
  for (const [from, to] of pairs) next.set(from, [...(next.get(from) ?? []), to]);
  const leads = (from: string, to: string): boolean =>
    (next.get(from) ?? []).some((one) => one === to || leads(one, to));
  return pairs.filter(([from, to]) => !(next.get(from) ?? []).some((one) => one !== to && leads(one, to)));
}

const WIDTH = 1080;
const LEFT = 96;
const BOX = { height: 46, gap: 16, most: 176 };
const ROW = 78;
const BAND = 20;

/** Each box with its place, row by row; bands with theirs. */
function placed(): { rows: readonly (readonly Placed[])[]; bands: readonly Band[]; height: number } {
  const rows: (readonly Placed[])[] = [];
  const bands: Band[] = [];
  let y = 10;
  for (const floor of FLOORS) {
    const top = y;
    y += BAND;
    for (const row of floor.rows) {
      rows.push(placedInRow(row, y));
      y += ROW;
    }
    y += BAND + BOX.height - ROW;
    bands.push({ ...floor, top, height: y - top });
    y += 26;
  }
  return { rows, bands, height: y - 16 };
}

function placedInRow(row: readonly Box[], y: number): readonly Placed[] {
  const space = WIDTH - LEFT - 16;
  const width = Math.min((space - BOX.gap * (row.length - 1)) / row.length, BOX.most);
  const apart = row.length === 1 ? 0 : (space - width) / (row.length - 1);
  return row.map((box, index) => {
    const x = box.at === undefined ? LEFT + index * apart : LEFT + box.at * space - width / 2;
    return { ...box, x, y, width, row };
  });
}

const STYLE = `
  .paper { fill: #ffffff } .band { fill: #f1f4f8 } .box { fill: #ffffff; stroke: #57606a; stroke-width: 1 }
  .name { font: 600 13px ui-sans-serif, system-ui, sans-serif; fill: #1f2328 }
  .says { font: 10.5px ui-sans-serif, system-ui, sans-serif; fill: #57606a }
  .floor { font: 600 20px ui-sans-serif, system-ui, sans-serif; fill: #57606a }
  .way { fill: none; stroke: #0969da; stroke-width: 1.2; stroke-opacity: .65 } .tip { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .band { fill: #161b22 } .box { fill: #21262d; stroke: #8b949e }
    .name { fill: #e6edf3 } .says, .floor { fill: #9da7b3 }
    .way { stroke: #58a6ff } .tip { fill: #58a6ff }
  }
`;

/** The picture, from the imports of the files in `src`. */
export function draw(src: string): string {
  const { rows, bands, height } = placed();
  const boxes = new Map(rows.flat().map((one) => [one.name, one]));
  const box = (name: string): Placed => {
    const found = boxes.get(name);
    if (found === undefined) throw new Error(`no box is called ${name}`);
    return found;
  };
  const all = importsOf(src);
  for (const [from, to] of all) {
    if (box(to).y > box(from).y) continue;
    throw new Error(`${from} imports ${to}, which stands no lower: move a box in scripts/docs/architecture.ts`);
  }
  const pairs = reduced(all).filter(([, to]) => to !== "model");
  const taken = new Map<string, number>();
  const ways = pairs.map((pair) => way({ box, rows, pairs, taken }, pair));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${round(height)}" role="img" aria-label="Floors and rooms of carryover, and which imports which">`,
    `<style>${STYLE}</style>`,
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker>',
    `<rect class="paper" width="${WIDTH}" height="${round(height)}" rx="8"/>`,
    ...bands.flatMap(band),
    ...ways,
    ...rows.flat().flatMap(boxLines),
    `<!-- imports: ${all.map(([from, to]) => `${from}>${to}`).join(" ")} -->`,
    "</svg>",
    "",
  ].join("\n");
}

function band({ floor, says, top, height }: Band): readonly string[] {
  const words = wrapped(says, 13).map(
    (line, index) => `<text class="says" x="22" y="${round(top + 48 + index * 13)}">${line}</text>`,
  );
  return [
    `<rect class="band" x="10" y="${round(top)}" width="${WIDTH - 20}" height="${round(height)}" rx="6"/>`,
    `<text class="floor" x="22" y="${round(top + 30)}">${floor}</text>`,
    ...words,
  ];
}

function boxLines({ name, says, x, y, width }: Placed): readonly string[] {
  const middle = round(x + width / 2);
  return [
    `<rect class="box" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${BOX.height}" rx="5"/>`,
    `<text class="name" x="${middle}" y="${round(y + 19)}" text-anchor="middle">${name}</text>`,
    `<text class="says" x="${middle}" y="${round(y + 35)}" text-anchor="middle">${says}</text>`,
  ];
}

/** From the lower edge of one box to the upper edge of another, between the boxes of the rows that it passes. */
function way({ box, rows, pairs, taken }: Drawing, [from, to]: Pair): string {
  const [a, b] = [box(from), box(to)];
  const x1 = port(
    a,
    pairs.filter(([one]) => one === from).map(([, one]) => box(one)),
    b,
  );
  const x2 = port(
    b,
    pairs.filter(([, one]) => one === to).map(([one]) => box(one)),
    a,
  );
  let [x, y] = [x1, a.y + BOX.height];
  let path = `M${round(x)} ${round(y)}`;
  const onTo = (nextX: number, nextY: number): void => {
    const bend = (nextY - y) * 0.55;
    path += `C${[x, y + bend, nextX, nextY - bend, nextX, nextY].map(round).join(" ")}`;
    [x, y] = [nextX, nextY];
  };
  for (const row of rows.filter((row) => topOf(row) > a.y && topOf(row) < b.y)) {
    const top = topOf(row);
    const straight = x + ((x2 - x) * (top - y)) / (b.y - y);
    onTo(passage(row, straight, taken), top);
    y = top + BOX.height;
    path += `V${round(y)}`;
  }
  onTo(x2, b.y - 1);
  return `<path class="way" marker-end="url(#tip)" d="${path}"><title>${from} imports ${to}</title></path>`;
}

/** Where an arrow that would go straight through `x` passes a row: beside the boxes, and beside the arrows before it. */
function passage(row: readonly Placed[], x: number, taken: Map<string, number>): number {
  const gaps = [LEFT - 8, ...row.flatMap(({ x: left, width }) => [left - 8, left + width + 8])];
  const inside = row.some(({ x: left, width }) => x > left - 6 && x < left + width + 6);
  const place = inside ? (gaps.toSorted((a, b) => Math.abs(a - x) - Math.abs(b - x))[0] ?? x) : x;
  const key = `${topOf(row)} ${Math.round(place / 5)}`;
  const before = taken.get(key) ?? 0;
  taken.set(key, before + 1);
  return place + before * 4;
}

/** Where on `box` the arrow to `other` begins or ends: in the order of what is at the other ends. */
function port(box: Placed, others: readonly Placed[], other: Placed): number {
  const order = others.toSorted((a, b) => a.x + a.width / 2 - (b.x + b.width / 2) || a.y - b.y);
  return box.x + (box.width * (order.indexOf(other) + 1)) / (order.length + 1);
}

function wrapped(text: string, most: number): readonly string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== "" && `${last} ${word}`.length > most) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}

const topOf = (row: readonly Placed[]): number => row[0]?.y ?? 0;
const round = (number: number): number => Math.round(number * 10) / 10;
