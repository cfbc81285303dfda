/** The thread of the page. `page-thread.ts` starts it. */
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { startRenderer } from "./page-renderer.ts";

const LOW = 10;

// On Linux the priority is that of a thread: requests go first where there are too few cores. Elsewhere it is that of the process.
if (process.platform === "linux") {
  try {
    setPriority(LOW);
  } catch {
    // Not allowed here: then it has the priority of the others.
  }
}
if (parentPort !== null) startRenderer(parentPort, workerData);
