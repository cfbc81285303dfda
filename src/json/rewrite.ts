/** How is a whole JSON body, or a page of a list, edited without building objects? (Design: the rewriter.) */
import { type Compiled, type Compiler, compileObject, compileValue, createCompiler } from "./compile.ts";
import { fail, relocated } from "./error.ts";
import { beginCall, createWork, endCall, type Work } from "./frame.ts";
import { written } from "./output.ts";
import { type Page, readPage } from "./page.ts";
import type { ObjectPlan, PagePlan, Report, ValuePlan } from "./plan.ts";
import { listReports } from "./reports.ts";
import { depthOf, type ScanOptions, skipEnd, skipSpace } from "./scan.ts";
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

/** Rewrites pages. */
export interface PageRewriter {
  (text: Uint8Array): PageResult;
  /** The same, with a `turn` for others between the records, so that no page takes the processor for long. */
  inSlices(text: Uint8Array, turn: () => Promise<void>): Promise<PageResult>;
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
  const depth = depthOf(options);
  return createCall(compiler, (work, text) => {
    const bytes = rewriteWhole(work, compiled, text, depth);
    refuseSurrogates(text, options);
    return { bytes, reports: listReports(work.reports) };
  });
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
export function createPageRewriter(plan: PagePlan): PageRewriter {
  const compiler = createCompiler();
  const compiled = compileObject(compiler, plan.record === "copy" ? UNTOUCHED : plan.record, plan.key);
  const finish = (work: Work, page: Page, text: Uint8Array): PageResult => {
    refuseSurrogates(text, plan);
    return { ...page, reports: listReports(work.reports) };
  };
  const atOnce = createCall(compiler, (work, text) => {
    const steps = readPage(work, plan, compiled, text);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return finish(work, step.value, text);
  });
  const inSlices: PageRewriter["inSlices"] = async (text, turn) => {
    const work = createWork(compiler);
    try {
      beginCall(work, text);
      const steps = readPage(work, plan, compiled, text);
      let step = steps.next();
      while (step.done !== true) {
        await turn();
        step = steps.next();
      }
      return finish(work, step.value, text);
    } catch (error) {
      throw relocated(text, error);
    }
  };
  return Object.assign(atOnce, { inSlices });
}

/** Runs `rewrite` for each text that comes, with working state that is used again: making it costs more than a small text. */
function createCall<T>(compiler: Compiler, rewrite: (work: Work, text: Uint8Array) => T): (text: Uint8Array) => T {
  let spare: Work | undefined;
  return (text) => {
    // A conversion may call this very function: its call then has a state of its own.
    const work = spare ?? createWork(compiler);
    spare = undefined;
    try {
      beginCall(work, text);
      const result = rewrite(work, text);
      endCall(work);
      spare = work;
      return result;
    } catch (error) {
      throw relocated(text, error);
    }
  };
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
