/** The operator's page of a running carryover. Its modules are loaded with the first page that is asked for, so that they do not delay a start. */
import { setImmediate } from "node:timers/promises";
import { wayOut, wayOutOptions } from "../ledger/way-out.ts";
import type { PageData } from "../page/data.ts";
import type { Draw } from "../page/progress.ts";
import type { AdminPage } from "../page/views.ts";
import type { PageSources } from "./page-data.ts";

/** All that look within this time see the same. */
const FRESH_MS = 900;

export function createPage(sources: PageSources): AdminPage {
  const { config, catalogue, migration, now } = sources;
  let gatherer: Promise<() => Promise<PageData>> | undefined;
  const gather = async (): Promise<PageData> => {
    gatherer ??= import("./page-data.ts").then(({ createGatherer }) => createGatherer(sources));
    return (await gatherer)();
  };
  let fresh: { readonly at: number; readonly data: Promise<PageData> } | undefined;
  const data = (): Promise<PageData> => {
    if (fresh === undefined || now() - fresh.at > FRESH_MS) fresh = { at: now(), data: gather() };
    return fresh.data;
  };
  let draw: Draw | undefined;
  const page = async () => {
    const [{ createDraw }, rest] = await Promise.all([import("../page/progress.ts"), import("../page/page.ts")]);
    draw ??= createDraw();
    return { ...rest, draw };
  };
  const look = async () => (await import("../page/assets.ts")).ASSET_PATHS;
  return {
    home: async (query, formToken) => {
      const [{ renderPage, ...rest }, assets, found] = await Promise.all([page(), look(), data()]);
      return renderPage(found, query, { assets, formToken, draw: rest.draw });
    },
    parts: async (query) => {
      const [{ liveParts, ...rest }, found] = await Promise.all([page(), data()]);
      const parts = new Map<string, string>();
      for (const [id, content] of liveParts(found, query, rest.draw)) {
        parts.set(id, content);
        // Requests pass between two of them.
        await setImmediate();
      }
      return parts;
    },
    client: async (name) => {
      const [{ clientPage }, assets, { ledger, at }] = await Promise.all([import("../page/client.ts"), look(), data()]);
      const entry = ledger.clients.find((one) => one.name === name);
      if (entry === undefined) return undefined;
      return clientPage(entry, wayOut(entry, wayOutOptions(catalogue, config.v1.recordTimes)), at, assets);
    },
    login: async (view) => (await import("../page/forms.ts")).loginPage(view, await look()),
    force: async (view) => {
      const [{ forcePage }, assets] = await Promise.all([import("../page/forms.ts"), look()]);
      const { effective } = migration.rollout.force();
      return forcePage({ ...view, force: effective, hasNative: config.upstream.v1 !== undefined }, assets);
    },
    fault: async (title, text) => (await import("../page/forms.ts")).faultPage(title, text, await look()),
    asset: async (path, accepted) => (await import("../page/assets.ts")).assetAt(path, accepted),
  };
}
