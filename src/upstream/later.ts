/** How does something happen later, unless it is called off? */

/** Calls `run` once after `ms` milliseconds; what it gives back calls that off, and does nothing afterwards. */
export type Later = (ms: number, run: () => void) => () => void;

/** The timers of the process. */
export const later: Later = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};
