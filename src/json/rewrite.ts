/** How is a whole JSON body, or a page of a list, edited without building objects? (Design: the rewriter.) */
import { type Compiled, compileObject, compileValue, createCompiler } from "./compile.ts";
import { fail, located } from "./error.ts";
import { createWork, type Work } from "./frame.ts";
import { createLoader, written } from "./output.ts";
import { type Page, readPage } from "./page.ts";
import type { ObjectPlan, PagePlan, Report, ValuePlan } from "./plan.ts";
import { listReports } from "./reports.ts";
import { depthOf, type Loaded, type ScanOptions, skipEnd, skipSpace } from "./scan.ts";
import { loneSurrogate } from "./text.ts";
import { walkValue } from "./walk.ts";

/** A rewritten body. */
export interface ValueResult {
  /** Everything, white space around the value included. The very array that was given when nothing was edited. */
  readonly bytes: Uint8Array;
  readonly reports: readonly Report[];
}

/** A rewritten page, without its envelope. */
export interface PageResult extends Page {
  readonly reports: readonly Report[];
}

/**
 * A function that rewrites bodies by `plan`. Compile once, use often: calls share nothing but memory.
 * The function throws `JsonError` when the text is not one valid JSON value (RFC 8259, UTF-8, no byte order mark), is nested
 * too deeply, repeats a member that is edited, is no object although `plan` is an object plan, or, with `surrogates: "refuse"`
 * (default: `pass`), has a lone surrogate escape. Nothing comes out then.
 */
export function createValueRewriter(plan: ValuePlan, options: ScanOptions = {}): (text: Uint8Array) => ValueResult {
  const compiler = createCompiler();
  const compiled = compileValue(compiler, plan);
  const loadAnd = createLoader();
  const rewrite = (text: Uint8Array, loaded: Loaded): ValueResult => {
    const work = createWork(loaded, text.length, compiler);
    const bytes = rewriteWhole(work, compiled, text, depthOf(options));
    refuseSurrogates(text, options);
    return { bytes, reports: listReports(work.reports) };
  };
  return (text) => located(text, () => loadAnd(text, (loaded) => rewrite(text, loaded)));
}

/** `createValueRewriter` for one use. */
export function rewriteValue(text: Uint8Array, plan: ValuePlan, options: ScanOptions = {}): ValueResult {
  return createValueRewriter(plan, options)(text);
}

/**
 * A function that takes the records out of list pages and rewrites them by `plan`. Throws as `createValueRewriter` says, and when
 * the page is no object, the items are missing (unless the plan allows it) or no array, a record is no object, or its key is
 * missing or no string.
 */
export function createPageRewriter(plan: PagePlan): (text: Uint8Array) => PageResult {
  const compiler = createCompiler();
  const compiled = compileObject(compiler, plan.record === "copy" ? UNTOUCHED : plan.record, plan.key);
  const loadAnd = createLoader();
  const rewrite = (text: Uint8Array, loaded: Loaded): PageResult => {
    const work = createWork(loaded, text.length, compiler);
    const page = readPage(work, plan, compiled, text);
    refuseSurrogates(text, plan);
    return { ...page, reports: listReports(work.reports) };
  };
  return (text) => located(text, () => loadAnd(text, (loaded) => rewrite(text, loaded)));
}

const UNTOUCHED: ObjectPlan = { kind: "object", members: new Map(), reportUnknown: false };

/** `createPageRewriter` for one use. */
export function rewritePage(text: Uint8Array, plan: PagePlan): PageResult {
  return createPageRewriter(plan)(text);
}

function rewriteWhole(work: Work, plan: Compiled | undefined, text: Uint8Array, depth: number): Uint8Array {
  const { text: view, output } = work;
  const start = skipSpace(view, 0);
  if (plan?.kind === "object" && view.getUint8(start) !== 0x7b) fail(start, "expected an object");
  const end = walkValue(work, plan, start, depth, undefined);
  skipEnd(view, end, text.length);
  return output.from === 0 ? text : written(output, text.length);
}

function refuseSurrogates(text: Uint8Array, options: ScanOptions): void {
  if (options.surrogates !== "refuse") return;
  const lone = loneSurrogate(text);
  if (lone !== -1) fail(lone, "lone surrogate");
}
