/** The operator's page of a running carryover. Nothing of it is loaded before the first page is asked for, so that it does not delay a start. */
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import type { Timer } from "../model/clock.ts";
import type { AdminPage } from "../page/views.ts";
import type { Migration } from "./migration.ts";
import type { PageTeller, TellerSources } from "./page-teller.ts";
import type { PageThread } from "./page-thread.ts";

export interface PageParts extends Pick<TellerSources, "instance" | "wall" | "now" | "metrics" | "past" | "load"> {
  readonly config: Config;
  readonly catalogue: Catalogue;
  readonly migration: Migration;
  readonly later: Timer;
}

/** All that look within this time see the same, unless the rules or `force` changed. */
const FRESH_MS = 900;
/** Of the time, gathering may keep requests waiting for the first part, and rendering for open pages may take the second of one processor. */
const SHARES = { gathering: 0.01, rendering: 0.05 };
/** Longest pause between two updates. */
const MOST_REST_MS = 5_000;
/** Without a page that is looked at, the thread ends after this time. */
const IDLE_MS = 60_000;

export interface OpenPage {
  readonly thread: PageThread;
  readonly teller: PageTeller;
}

interface Update {
  readonly at: number;
  readonly inForce: readonly unknown[];
  isOver: boolean;
  /** Milliseconds that requests had to wait for it. */
  readonly done: Promise<number>;
}

/** `begin`: opens the page; tests hand in their own. */
export function createPage(parts: PageParts, begin: (parts: PageParts) => Promise<OpenPage> = openPage): AdminPage {
  const { config, migration, now, later } = parts;
  let opened: Promise<OpenPage> | undefined;
  let updated: Update | undefined;
  let cancelEnd = (): void => {};
  let isClosed = false;
  const end = (): void => {
    cancelEnd();
    void opened?.then(closePage, () => {});
    opened = undefined;
    updated = undefined;
  };
  const open = async (): Promise<OpenPage> => {
    const before = opened;
    // It has ended by itself: there was no more memory for it.
    if ((await before)?.thread.fault() !== undefined && opened === before) end();
    if (isClosed) throw new Error("carryover stops");
    cancelEnd();
    cancelEnd = later(IDLE_MS, end);
    opened ??= begin(parts).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const inForce = (): readonly unknown[] => [migration.rollout.rules(), migration.rollout.force().commandAt];
  const isOutdated = ({ inForce: before }: Update): boolean => inForce().some((one, index) => one !== before[index]);
  /** The thread after an update that is fresh. `gatherMs`: how long requests had to wait for it. */
  const fresh = async (): Promise<OpenPage & { readonly gatherMs: number }> => {
    const page = await open();
    // One after the other.
    if (updated !== undefined && !updated.isOver && isOutdated(updated)) await updated.done.catch(() => {});
    if (updated === undefined || (updated.isOver && (isOutdated(updated) || now() - updated.at > FRESH_MS))) {
      const update: Update = { at: now(), inForce: inForce(), isOver: false, done: page.teller.update() };
      const over = (): void => {
        update.isOver = true;
      };
      update.done.then(over, over);
      updated = update;
    }
    return { ...page, gatherMs: await updated.done };
  };
  const look = async () => (await import("../page/assets.ts")).ASSET_PATHS;
  return {
    home: async (query, formToken) => (await fresh()).thread.ask("home", { query: query.toString(), formToken }),
    news: async (turn, asked) => {
      const { thread, gatherMs } = await fresh();
      const found = await thread.ask("news", { turn, asked });
      const restMs = Math.max(gatherMs / SHARES.gathering, thread.takeBusyMs() / SHARES.rendering);
      return { found, restMs: Math.min(restMs, MOST_REST_MS) };
    },
    client: async (name) => (await fresh()).thread.ask("client", { name }),
    login: async (view) => (await import("../page/forms.ts")).loginPage(view, await look()),
    force: async (view) => {
      const [{ forcePage }, assets] = await Promise.all([import("../page/forms.ts"), look()]);
      const { effective } = migration.rollout.force();
      return forcePage({ ...view, force: effective, hasNative: config.upstream.v1 !== undefined }, assets);
    },
    fault: async (title, text) => (await import("../page/forms.ts")).faultPage(title, text, await look()),
    asset: async (path, accepted) => (await import("../page/assets.ts")).assetAt(path, accepted),
    close: () => {
      isClosed = true;
      end();
    },
  };
}

async function openPage(parts: PageParts): Promise<OpenPage> {
  const { config, catalogue, migration } = parts;
  const [{ openPageThread }, { createTeller }] = await Promise.all([
    import("./page-thread.ts"),
    import("./page-teller.ts"),
  ]);
  const thread = openPageThread({
    catalogue: catalogue.version,
    recordTimes: config.v1.recordTimes,
    salt: config.cutover.salt,
    hasNative: config.upstream.v1 !== undefined,
    values: config.shadow.values,
  });
  const { rows, fleet, shared, guardsTogether, rollout, identity } = migration;
  const owners = () => Array.from(identity.names, (name) => [name, identity.ownerOf(name) ?? {}] as const);
  return {
    thread,
    teller: createTeller({ ...parts, rows, fleet, shared, guardsTogether, rules: rollout.rules, owners }, thread.tell),
  };
}

function closePage({ thread, teller }: OpenPage): void {
  teller.close();
  thread.close();
}
