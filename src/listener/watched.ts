/** How does somebody watch what passes by, and cannot disturb it? */
import type { Watch } from "../model/plan.ts";

/** `watch`, heard once of the end; what it throws ends the watching and nothing else. */
export function guarded(watch: Watch, failed: (error: unknown) => void): Watch {
  let watching = true;
  const tell = (what: () => void): void => {
    if (!watching) return;
    try {
      what();
    } catch (error) {
      watching = false;
      failed(error);
    }
  };
  return {
    sent: (chunk) => tell(() => watch.sent(chunk)),
    head: (status, headers) => tell(() => watch.head(status, headers)),
    data: (chunk) => tell(() => watch.data(chunk)),
    over: (whole) =>
      tell(() => {
        watching = false;
        watch.over(whole);
      }),
  };
}
