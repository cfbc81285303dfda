/**
 * Open pages that follow the news by server-sent events. All that ask for the same get the same bytes, at most once per second, and less often
 * where they take long to make. Bounded; a viewer that does not read is dropped.
 */
import type { ServerResponse } from "node:http";
import type { Timer } from "../model/clock.ts";
import type { AdminPage, News } from "../page/views.ts";

export const MOST_VIEWERS = 32;
const EVERY_MS = 1_000;
const HEARTBEAT_MS = 15_000;
/** How long a viewer may leave what was sent unread. */
const UNREAD_MS = 10_000;
/** Viewers that are written to before requests pass. */
const WRITTEN_AT_ONCE = 4;

export interface ViewerSources {
  readonly news: AdminPage["news"];
  readonly later: Timer;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  /** Lets requests pass. */
  readonly pause: () => Promise<unknown>;
  readonly failed: (error: unknown) => void;
}

/** It was sent nothing yet. */
const NOTHING = 0;

interface Viewer {
  readonly response: ServerResponse;
  readonly query: string;
  /** True while it may still see the page. */
  readonly isAllowed: () => boolean;
  /** The turn that it was sent last. */
  turn: number;
  writtenAt: number;
  /** Since when something waits to be read. */
  unreadSince: number | undefined;
}

export type Viewers = ReturnType<typeof createViewers>;

export function createViewers({ news, later, now, pause, failed }: ViewerSources) {
  const viewers = new Set<Viewer>();
  let turn = NOTHING;
  let cancel: (() => void) | undefined;
  let isClosed = false;

  const end = (viewer: Viewer): void => {
    viewers.delete(viewer);
    viewer.response.destroy();
  };
  /** True if it can take more. */
  const isReading = (viewer: Viewer): boolean => {
    if (!viewer.response.writableNeedDrain) {
      viewer.unreadSince = undefined;
      return true;
    }
    viewer.unreadSince ??= now();
    if (now() - viewer.unreadSince > UNREAD_MS) end(viewer);
    return false;
  };
  const tell = (viewer: Viewer, { before, changes, whole }: News): void => {
    if (!viewers.has(viewer) || !isReading(viewer)) return;
    const events = viewer.turn === before ? changes : whole;
    // It came after the question: the next turn has all for it.
    if (events === undefined) return;
    viewer.turn = turn;
    if (events.length === 0 && now() - viewer.writtenAt < HEARTBEAT_MS) return;
    viewer.writtenAt = now();
    viewer.response.write(events.length === 0 ? ":\n\n" : events);
  };
  const round = async (): Promise<void> => {
    for (const viewer of viewers) if (!viewer.isAllowed()) end(viewer);
    turn += 1;
    const queries = new Set(Array.from(viewers, ({ query }) => query));
    const asked = Array.from(queries, (query) => {
      const have = [...viewers].flatMap((one) => (one.query === query ? [one.turn] : []));
      return { query, have: [...new Set(have)] };
    });
    const { found, restMs } = await news(turn, asked);
    let written = 0;
    for (const one of found) {
      for (const viewer of viewers) {
        if (viewer.query !== one.query) continue;
        tell(viewer, one);
        written += 1;
        if (written % WRITTEN_AT_ONCE === 0) await pause();
      }
    }
    schedule(Math.max(EVERY_MS, restMs));
  };
  const schedule = (ms: number): void => {
    cancel = undefined;
    if (isClosed || viewers.size === 0) return;
    cancel = later(ms, () => {
      round().catch((error: unknown) => {
        failed(error);
        schedule(HEARTBEAT_MS);
      });
    });
  };
  return {
    /** False if there are too many. From now on the response is this module's. */
    join: (response: ServerResponse, query: string, isAllowed: () => boolean): boolean => {
      if (viewers.size >= MOST_VIEWERS || isClosed) return false;
      const viewer: Viewer = { response, query, isAllowed, turn: NOTHING, writtenAt: now(), unreadSince: undefined };
      viewers.add(viewer);
      response.once("close", () => viewers.delete(viewer));
      response.on("error", () => end(viewer));
      response.writeHead(200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
      });
      response.write("retry: 3000\n\n");
      if (cancel === undefined) schedule(EVERY_MS);
      return true;
    },
    count: (): number => viewers.size,
    close: (): void => {
      isClosed = true;
      cancel?.();
      for (const viewer of viewers) end(viewer);
    },
  };
}
