/** How do taken records become what the client sees, while further ones are fetched? */
import type { DrainRefused } from "../../model/list.ts";
import { OVER } from "./ending.ts";
import type { Reading, Taken } from "./reading.ts";
import type { Run } from "./run.ts";

/** `reading`, each chunk as the plan shows it. Ends early with the refusal of a read that showing needed. */
export async function* shown(run: Run, reading: Reading): Reading {
  const { show } = run.plan;
  if (show === undefined) return yield* reading;
  try {
    for (;;) {
      const next = await reading.next();
      if (next.done === true) return next.value;
      const { of, bytes } = next.value;
      // Of a reading that was given up meanwhile nothing is shown.
      if (of !== run.merged) continue;
      const made = await show(bytes);
      if (made.kind === "refused") return made;
      yield { of, bytes: made.bytes };
    }
  } finally {
    // A page that is still under way is not waited for.
    run.stopper.abort(OVER);
    await reading.return(undefined);
  }
}

/** `reading` with its next chunk under way while the one before is used. */
export async function* oneAhead(reading: Reading): Reading {
  let next = begin(reading);
  try {
    for (;;) {
      const { done, value } = await next;
      if (done === true) return value as DrainRefused | undefined;
      next = begin(reading);
      yield value as Taken;
    }
  } finally {
    await reading.return(undefined).catch(() => {});
  }
}

/** A failure is told to whoever waits for the chunk; until somebody does, it must not count as unheard. */
function begin(reading: Reading): ReturnType<Reading["next"]> {
  const next = reading.next();
  next.catch(() => {});
  return next;
}
