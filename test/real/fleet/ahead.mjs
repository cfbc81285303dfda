/** Loaded before a program: its clock is an hour ahead. */
const AHEAD_MS = 3_600_000;
const { now } = Date;

Date.now = () => now() + AHEAD_MS;
globalThis.Date = class extends Date {
  constructor(...words) {
    if (words.length === 0) super(Date.now());
    else super(...words);
  }
};
