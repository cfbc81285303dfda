/**
 * Open pages that follow the news by server-sent events. All that ask for the same are served from one rendering, at most once per second, and
 * less often where rendering takes long. Bounded; a viewer that does not read is dropped.
 */
import type { ServerResponse } from "node:http";
import type { Timer } from "../model/clock.ts";

export const MOST_VIEWERS = 32;
const EVERY_MS = 1_000;
/** Rendering may take this share of the time. */
const SHARE = 0.05;
const HEARTBEAT_MS = 15_000;
/** How long a viewer may leave what was sent unread. */
const UNREAD_MS = 10_000;
/** A part of more characters, such as a plot with its table, is sent so often at most. */
const LARGE = { length: 24_000, everyMs: 10_000 };

export interface ViewerSources {
  /** The parts of the page for this query, by id. */
  readonly parts: (query: string) => Promise<ReadonlyMap<string, string>>;
  readonly later: Timer;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  readonly failed: (error: unknown) => void;
}

interface Viewer {
  readonly response: ServerResponse;
  readonly query: string;
  /** True while it may still see the page. */
  readonly isAllowed: () => boolean;
  /** The parts that it has, by id, and when each was sent. */
  readonly sent: Map<string, { readonly html: string; readonly at: number }>;
  writtenAt: number;
  /** Since when something waits to be read. */
  unreadSince: number | undefined;
}

export type Viewers = ReturnType<typeof createViewers>;

export function createViewers({ parts, later, now, failed }: ViewerSources) {
  const viewers = new Set<Viewer>();
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
  const write = (viewer: Viewer, text: string): void => {
    viewer.writtenAt = now();
    viewer.response.write(text);
  };
  const tell = (viewer: Viewer, found: ReadonlyMap<string, string>, events: Map<string, string>): void => {
    if (!viewers.has(viewer) || !isReading(viewer)) return;
    const at = now();
    const news = [...found].filter(([id, html]) => {
      const before = viewer.sent.get(id);
      const isDue = before === undefined || html.length < LARGE.length || at - before.at >= LARGE.everyMs;
      return isDue && before?.html !== html;
    });
    for (const [id, html] of news) viewer.sent.set(id, { html, at });
    if (news.length > 0) {
      write(viewer, news.map(([id, html]) => eventOf(id, html, events)).join(""));
    } else if (now() - viewer.writtenAt >= HEARTBEAT_MS) write(viewer, ":\n\n");
  };
  const round = async (): Promise<void> => {
    const begun = now();
    for (const viewer of viewers) if (!viewer.isAllowed()) end(viewer);
    for (const query of new Set([...viewers].map((one) => one.query))) {
      const found = await parts(query);
      // Each event is made once for all.
      const events = new Map<string, string>();
      for (const viewer of viewers) if (viewer.query === query) tell(viewer, found, events);
    }
    schedule(Math.max(EVERY_MS, (now() - begun) / SHARE));
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
      const viewer: Viewer = { response, query, isAllowed, sent: new Map(), writtenAt: now(), unreadSince: undefined };
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

function eventOf(id: string, html: string, made: Map<string, string>): string {
  const event = made.get(id) ?? `event: part\ndata: ${JSON.stringify({ id, html })}\n\n`;
  made.set(id, event);
  return event;
}
