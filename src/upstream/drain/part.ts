/** How is one part of a list read, from its own rank on and behind its own tokens? */
import type { Signal } from "../../model/signal.ts";
import { type Fetched, fetchPage } from "./page.ts";
import type { Run } from "./run.ts";

/** What a part brings: pages, or what ended it. */
export type Step = Fetched | { readonly kind: "failed"; readonly problem: unknown };

/** One part of the list while it is read. */
export interface Part {
  /** What has come, and was not taken yet. */
  readonly steps: Step[];
  /** First key of the part, once it is known. */
  head: string | undefined;
  /** Nothing more comes, or is wanted. */
  done: boolean;
}

/** What a part has to do with the others. */
export interface PartTools {
  /** Told of each page, and of what ended the part. */
  came(step: Step): void;
  /** Resolves when another page of this part may lie ahead. */
  room(): Promise<void>;
  /** First key of the part behind this one, when it is known. */
  following(): string | undefined;
  readonly signal: Signal;
}

/**
 * Reads `pages` pages from rank `skip` on. Beyond them a part goes on until it meets the next one, for at most as many again:
 * records were put into it meanwhile. Never rejects.
 */
export async function readPart(run: Run, part: Part, skip: number, pages: number, tools: PartTools): Promise<void> {
  let last = "";
  let token: string | undefined;
  let rank = skip;
  for (let read = 0; read < 2 * pages && !part.done; read += 1) {
    if (read > 0) await tools.room();
    const place = token === undefined ? { skip } : { token, rank };
    const step = await fetchPage(run, place, tools.signal).catch(failed);
    tools.came(step);
    if (step.kind !== "page") return;
    part.head ??= step.keys[0];
    token = step.nextPageToken;
    rank += step.keys.length;
    last = step.keys.at(-1) ?? last;
    const following = tools.following();
    const met = following !== undefined && following <= last;
    if (token === "" || met || (read + 1 >= pages && (pages === 1 || following === undefined))) return;
  }
}

function failed(problem: unknown): Step {
  return { kind: "failed", problem };
}
