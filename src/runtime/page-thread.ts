/** Starts the thread that renders the page, and asks it. This module and `page-worker.ts` are side by side in every build. */
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type {
  PageAnswer,
  PageAsk,
  PageFacts,
  PageQuestion,
  PageReply,
  PageRows,
  PageSettings,
} from "./page-messages.ts";

export interface PageThread {
  tell(message: PageRows | PageFacts): void;
  /** Rejects if the thread cannot answer, or has ended. */
  ask<Name extends keyof PageQuestion>(name: Name, question: PageQuestion[Name]): Promise<PageAnswer[Name]>;
  /** Milliseconds that it has worked since the last call. */
  takeBusyMs(): number;
  /** Undefined while it runs. */
  fault(): Error | undefined;
  close(): void;
}

export function openPageThread(settings: PageSettings): PageThread {
  const waiting = new Map<number, { resolve(found: unknown): void; reject(error: Error): void }>();
  let last = 0;
  let busyMs = 0;
  let fault: Error | undefined;
  const end = (error: Error): void => {
    fault ??= error;
    for (const { reject } of waiting.values()) reject(fault);
    waiting.clear();
  };
  const { port, close } = openPort(settings, end);
  port.on("message", (reply: PageReply) => {
    busyMs += reply.busyMs;
    const asker = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("fault" in reply) asker?.reject(new Error(reply.fault));
    else asker?.resolve(reply.found);
  });
  return {
    tell: (message) => port.postMessage(message),
    ask: (name, question) =>
      new Promise((resolve, reject) => {
        if (fault !== undefined) {
          reject(fault);
          return;
        }
        last += 1;
        waiting.set(last, { resolve: (found) => resolve(found as PageAnswer[typeof name]), reject });
        port.postMessage({ do: name, id: last, ...question } as PageAsk);
      }),
    takeBusyMs: () => {
      const taken = busyMs;
      busyMs = 0;
      return taken;
    },
    fault: () => fault,
    close: () => {
      end(new Error("the page has ended"));
      close();
    },
  };
}

type Port = Pick<MessagePort, "postMessage"> & { on(event: "message", listener: (reply: PageReply) => void): unknown };

function openPort(settings: PageSettings, ended: (error: Error) => void): { readonly port: Port; close(): void } {
  if (import.meta.url.endsWith(".ts")) return openHere(settings, ended);
  // It needs neither the options of this process nor its environment.
  const options = { workerData: settings, execArgv: [], env: {}, name: "page" };
  const worker = new Worker(new URL("./page-worker.js", import.meta.url), options);
  worker.unref();
  worker.on("error", ended);
  worker.on("exit", (code) => ended(new Error(`the thread of the page has ended with ${code}`)));
  return { port: worker, close: () => void worker.terminate() };
}

/** The sources, which no thread of Node 20 can load: the same in this thread. */
function openHere(settings: PageSettings, ended: (error: Error) => void): ReturnType<typeof openPort> {
  const { port1, port2 } = new MessageChannel();
  import("./page-renderer.ts").then(({ startRenderer }) => startRenderer(port2, settings), ended);
  port1.unref();
  port2.unref();
  return { port: port1, close: () => port1.close() };
}
