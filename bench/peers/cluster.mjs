/** Runs carryover as workers of one `node:cluster`. (An experiment: the product has nothing like it.) */
import cluster from "node:cluster";
import { openSync } from "node:fs";
import { NODE_FLAGS } from "../processes.mjs";

const [, , main, log, workers, ...options] = process.argv;
// The log goes to the file directly, as that of a process alone does; nothing of it passes the primary.
const stdio = ["ignore", openSync(log, "w"), "pipe", "ipc"];
cluster.setupPrimary({ exec: main, execArgv: NODE_FLAGS, args: ["serve", ...options], stdio });

const said = { urls: new Set(), admins: new Set(), pids: [] };
let ready = 0;
for (let i = 0; i < Number(workers); i++) {
  const worker = cluster.fork();
  said.pids.push(worker.process.pid);
  let text = "";
  worker.process.stderr.on("data", (chunk) => {
    const known = /admin at/.test(text);
    text += chunk;
    const found = /v1 clients at (\S+),.* admin at (\S+),/.exec(text);
    if (found === null || known) return;
    said.urls.add(found[1]);
    said.admins.add(found[2]);
    ready++;
    // A free port is the same one for all workers, on the admin side as on the client side.
    if (ready === Number(workers)) console.log(`ready ${[...said.urls]} ${[...said.admins]} ${said.pids}`);
  });
  worker.on("exit", () => process.exit());
}
process.on("SIGTERM", () => {
  for (const worker of Object.values(cluster.workers)) worker.process.kill("SIGKILL");
});
