/** The thread of the page. `page-thread.ts` starts it. */
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { startRenderer } from "./page-renderer.ts";

const LOW = 10;

// On Linux this lowers the priority of this thread alone, so that requests go first. Elsewhere it would lower that of the whole process.
if (process.platform === "linux") {
  try {
    setPriority(LOW);
  } catch {
    // Not allowed here: then it has the priority of the others.
  }
}
if (parentPort !== null) startRenderer(parentPort, workerData);
