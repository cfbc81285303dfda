import { describe, expect, test } from "vitest";
import { compareAnswers } from "../../src/shadow/compare.ts";
import type { CompareShape } from "../../src/shadow/shape.ts";
import { busiest } from "./busiest.ts";
import { LIST, ONE } from "./compared.ts";

const MANY = 32_000;
/** Some thousand values, and what is done about each of them; going through everything at once is more. */
const MOST = 30_000;

const times = (text: (i: number) => string) => Array.from({ length: MANY }, (_, i) => text(i)).join(",");
const list = (text: (i: number) => string) => `{"items":[${times(text)}]}`;
const member = (name: string, text: (i: number) => string) =>
  `{"id":"a","${name}":${name === "tags" || name === "parts" ? `[${times(text)}]` : `{${times(text)}}`}}`;
const turned = (i: number) => (i * 7919) % MANY;

const CASES: readonly (readonly [string, CompareShape, string, string])[] = [
  ["records, of which each differs", LIST, list((i) => `{"id":"${i}","n":1}`), list((i) => `{"id":"${i}","n":2}`)],
  ["records in another order", LIST, list((i) => `{"id":"${i}"}`), list((i) => `{"id":"${turned(i)}"}`)],
  ["records that only one side has", LIST, list((i) => `{"id":"a${i}"}`), list((i) => `{"id":"b${i}"}`)],
  ["records of one id", LIST, list((i) => `{"id":"a","n":${i}}`), list((i) => `{"id":"a","n":${i + 5}}`)],
  ["records with each id twice", LIST, list((i) => `{"id":"${i >> 1}"}`), list((i) => `{"id":"${turned(i) >> 1}"}`)],
  ["records without an id", LIST, list((i) => `{"n":"a${i}"}`), list((i) => `{"n":"b${i}"}`)],
  [
    "a map, of which the last member differs",
    ONE,
    member("labels", (i) => `"k${i}":1`),
    member("labels", (i) => `"k${i}":${i < MANY - 1 ? 1 : 2}`),
  ],
  ["a map of other names", ONE, member("labels", (i) => `"a${i}":1`), member("labels", (i) => `"b${i}":1`)],
  ["members that are only on one side, and unset", ONE, member("box", (i) => `"a${i}":0`), '{"id":"a"}'],
  [
    "members that change by themselves",
    ONE,
    member("seen", (i) => `"k${i}":1`),
    member("seen", (i) => `"k${turned(i)}":2`),
  ],
  ["a set", ONE, member("tags", (i) => `"t${i}"`), member("tags", (i) => `"t${turned(i)}"`)],
  ["a set of others", ONE, member("tags", (i) => `"a${i}"`), member("tags", (i) => `"b${i}"`)],
  [
    "a list of parts",
    ONE,
    member("parts", (i) => `{"id":"${i}","n":1}`),
    member("parts", (i) => `{"id":"${i}","n":2}`),
  ],
  ["a list of values", ONE, member("parts", (i) => `${i}`), member("parts", (i) => `${i + 1}`)],
];

describe("between two pauses little is done, of many", () => {
  test.each(CASES)("%s", (_, shape, native, translated) => {
    const answer = (body: string) => ({ status: 200, body: Buffer.from(body) });
    expect(busiest(compareAnswers(answer(native), answer(translated), shape))).toBeLessThan(MOST);
  });

  test("details of an error", () => {
    const error = (from: number) => `{"code":5,"details":[${times((i) => `{"n":${i + from}}`)}]}`;
    const answer = (body: string) => ({ status: 404, body: Buffer.from(body) });
    expect(busiest(compareAnswers(answer(error(0)), answer(error(7)), ONE))).toBeLessThan(MOST);
  });
});
