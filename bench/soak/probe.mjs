/** Measures the memory of carryover during a soak test. (Loaded with `--import`; controlled over the IPC channel.) */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { answerQuestions } from "../channel.mjs";

function held() {
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  return { heap: heapUsed + external, rss, resources };
}

answerQuestions({
  look: held,
  /** With everything collected that can be. */
  settle: () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc");
    for (let i = 0; i < 3; i++) collect();
    return held();
  },
});
// The channel must not keep a stopping process alive.
process.channel.unref();
