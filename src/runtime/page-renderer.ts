/** Keeps what the page shows, and renders it: runs in a thread of its own, so that no request waits for it (`page-worker.ts`). */
import type { MessagePort } from "node:worker_threads";
import { loadCatalogue } from "../catalogue/catalogue.ts";
import { requestedOperations } from "../config/rules.ts";
import { createDocumentReader, type DocumentReader } from "../fleet/document.ts";
import { wayOut, wayOutOptions } from "../ledger/way-out.ts";
import { TIME } from "../model/clock.ts";
import { parsedJson } from "../model/json.ts";
import { ASSET_PATHS } from "../page/assets.ts";
import { clientPage } from "../page/client.ts";
import type { MadeUpPast, PageData } from "../page/data.ts";
import { liveParts, renderPage } from "../page/page.ts";
import { createDraw } from "../page/progress.ts";
import type { AskedNews, News } from "../page/views.ts";
import { createBucket } from "../rollout/callers.ts";
import { resourceNames } from "../rollout/rules-file.ts";
import type { Rules } from "../rules/rule.ts";
import { createGatherer } from "./page-data.ts";
import { changeEvents, linesOf, type PageLines, wholeEvents } from "./page-lines.ts";
import {
  OWN,
  type PageAsk,
  type PageFacts,
  type PageReply,
  type PageRows,
  type PageSettings,
} from "./page-messages.ts";
import { createTakers } from "./takers.ts";

/** Answers what comes through `port`, one message after the other. */
export function startRenderer(port: MessagePort, settings: PageSettings): void {
  const documents = createDocuments();
  const bucketOf = createBucket(settings.salt);
  const catalogue = loadCatalogue(settings.catalogue);
  let at = 0;
  const takers = catalogue.then(({ resources }) => {
    const operations = requestedOperations(resourceNames(resources), settings.hasNative);
    return createTakers({ rules: () => known.rules, bucketOf, wall: () => at, now: TIME.now, operations });
  });
  const gather = createGatherer(async (clients) => (await takers)(clients));
  const look = { assets: ASSET_PATHS, draw: createDraw() };
  let known: { rules: Rules | undefined; owners: Owners; past: MadeUpPast | undefined } = {
    rules: undefined,
    owners: new Map(),
    past: undefined,
  };
  let data: PageData | undefined;
  let shown = new Map<string, { readonly turn: number; readonly lines: PageLines }>();

  const update = async (facts: PageFacts): Promise<void> => {
    const { rare } = facts;
    at = facts.at;
    if (rare !== undefined) known = { ...rare, owners: new Map(rare.owners) };
    const own = await documents.read(OWN);
    if (own === undefined) throw new Error("the page was not told what it shows");
    const peers = [];
    for (const peer of facts.peers ?? []) {
      const document = await documents.read(peer.contributor);
      if (document !== undefined) peers.push({ ...peer, document });
    }
    documents.keep([OWN, ...peers.map(({ contributor }) => contributor)]);
    const { owners, past } = known;
    const ownerOf = (client: string) => owners.get(client);
    data = await gather({ facts, own, peers, past, values: settings.values, ownerOf, bucketOf });
  };
  const latest = (): PageData => {
    if (data === undefined) throw new Error("the page was not told what it shows");
    return data;
  };
  const newsOf = ({ query, have }: AskedNews, turn: number): News => {
    const before = shown.get(query);
    const lines = linesOf(liveParts(latest(), new URLSearchParams(query), look.draw));
    shown.set(query, { turn, lines });
    const isWhole = have.some((one) => one !== before?.turn);
    return {
      query,
      before: before?.turn,
      changes: bytesOf(before === undefined ? "" : changeEvents(before.lines, lines)),
      whole: isWhole ? bytesOf(wholeEvents(lines)) : undefined,
    };
  };
  const answer = async (ask: PageAsk) => {
    if (ask.do === "home") {
      const { query, formToken } = ask;
      return bytesOf(renderPage(latest(), new URLSearchParams(query), { ...look, formToken }));
    }
    if (ask.do === "news") {
      const asked = new Set(ask.asked.map(({ query }) => query));
      shown = new Map([...shown].filter(([query]) => asked.has(query)));
      return ask.asked.map((one) => newsOf(one, ask.turn));
    }
    const { ledger, samples } = latest();
    const entry = ledger.clients.find(({ name }) => name === ask.name);
    if (entry === undefined) return undefined;
    const way = wayOut(entry, wayOutOptions(await catalogue, settings.recordTimes));
    return bytesOf(clientPage({ entry, wayOut: way, at, samples: samples.samples }, look.assets));
  };

  let busyMs = 0;
  let fault: unknown;
  const take = async (message: PageRows | PageFacts | PageAsk): Promise<void> => {
    const begun = workedMs();
    if (message.do === "rows") {
      documents.take(message);
      busyMs += workedMs() - begun;
      return;
    }
    let reply: Omit<Extract<PageReply, { found: unknown }>, "busyMs" | "id"> | { readonly fault: string } | undefined;
    try {
      if (message.do === "facts") {
        fault = undefined;
        await update(message);
      } else {
        // Whoever asks gets the error of an update that failed.
        if (fault !== undefined) throw fault;
        reply = { found: await answer(message) };
      }
    } catch (error) {
      fault = message.do === "facts" ? error : undefined;
      reply = { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    busyMs += workedMs() - begun;
    if (message.do === "facts" || reply === undefined) return;
    port.postMessage({ ...reply, id: message.id, busyMs } satisfies PageReply, buffersIn(reply));
    busyMs = 0;
  };
  // The time to load the catalogue does not count as work for an update.
  let last = catalogue.then(() => {});
  port.on("message", (message: PageRows | PageFacts | PageAsk) => {
    last = last.then(() => take(message));
  });
}

/** Processor time of this thread. Node 20 knows the time on the clock only, which is longer where the processor is scarce. */
function workedMs(): number {
  const { threadCpuUsage } = process as { threadCpuUsage?: () => { readonly user: number; readonly system: number } };
  if (threadCpuUsage === undefined) return performance.now();
  const { user, system } = threadCpuUsage.call(process);
  return (user + system) / 1_000;
}

type Owners = ReadonlyMap<string, { readonly owner?: string | undefined; readonly contact?: string | undefined }>;

/** The rows received so far of all documents. */
function createDocuments() {
  const all = new Map<string, { readonly rows: Map<string, string>; readonly reader: DocumentReader }>();
  const of = (name: string) => {
    const found = all.get(name) ?? {
      rows: new Map<string, string>(),
      reader:
        name === OWN ? createDocumentReader((row, rows) => parsedJson(rows.get(row) ?? "")) : createDocumentReader(),
    };
    all.set(name, found);
    return found;
  };
  return {
    take: ({ of: name, rows: news }: PageRows): void => {
      const { rows } = of(name);
      for (const [row, text] of news) {
        if (text === undefined) rows.delete(row);
        else rows.set(row, text);
      }
    },
    /** Undefined without its head. */
    read: async (name: string) => {
      const { rows, reader } = of(name);
      const { document } = await reader.read(rows, async () => {});
      return document;
    },
    /** Forgets all others. */
    keep: (names: readonly string[]): void => {
      for (const name of all.keys()) if (!names.includes(name)) all.delete(name);
    },
  };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** They are handed over instead of copied. */
function buffersIn(reply: object): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const look = (value: unknown): void => {
    if (value instanceof Uint8Array && value.buffer instanceof ArrayBuffer) found.add(value.buffer);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(look);
  };
  look(reply);
  return [...found];
}
