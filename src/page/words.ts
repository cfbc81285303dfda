/** Numbers, shares and times as the page shows them. */
import { type Html, html } from "./html.ts";

/** `1,234,567`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

const UNITS = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** `1.2 M`, for axes. */
export function short(value: number): string {
  const [size, unit] = UNITS.find(([least]) => value >= least) ?? [1, ""];
  return `${Number((value / size).toPrecision(3))}${unit === "" ? "" : ` ${unit}`}`;
}

/** `31 %`. Only nothing reads as 0 %, and only all as 100 %. */
export function share(value: number): string {
  if (value > 0 && value < 0.01) return "< 1 %";
  if (value < 1 && value > 0.99) return "> 99 %";
  return `${Math.round(value * 100)} %`;
}

/** `0.42 %`. */
export function fineShare(value: number): string {
  return `${Number((value * 100).toPrecision(2))} %`;
}

/** `512 MiB`. */
export function bytes(value: number): string {
  if (value < 1024) return `${Math.round(value)} B`;
  const power = Math.min(3, Math.floor(Math.log2(value) / 10));
  return `${Number((value / 1024 ** power).toPrecision(3))} ${["B", "KiB", "MiB", "GiB"][power]}`;
}

/** `12 ms`, `1.5 s`. */
export function seconds(value: number): string {
  return value < 1 ? `${Number((value * 1000).toPrecision(2))} ms` : `${Number(value.toPrecision(2))} s`;
}

const MINUTE = 60_000;

/** `3 min ago`, `2 h ago`, `5 d ago`. A time that is ahead reads `now`. */
export function ago(at: number, now: number): string {
  const minutes = Math.floor((now - at) / MINUTE);
  if (minutes < 1) return "now";
  if (minutes < 120) return `${minutes} min ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1440)} d ago`;
}

export function isTime(at: number): boolean {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15;
}

/** The reader's own zone appears on hover, by the page's script. */
export function time(at: number | undefined, text?: string): Html {
  if (at === undefined || !isTime(at)) return html`–`;
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${text ?? minute(at)}</time>`;
}

/** `2026-11-29 08:41Z`. */
export function minute(at: number): string {
  return isTime(at) ? `${new Date(at).toISOString().slice(0, 16).replace("T", " ")}Z` : "?";
}

/** `29 Nov`. */
export function day(at: number): string {
  const [date = ""] = isTime(at) ? [new Date(at).toUTCString()] : [];
  return date.slice(5, 11).replace(/^0/, "");
}
