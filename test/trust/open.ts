/** Which ids have no test yet? None, when the work is done. */

export const OPEN: ReadonlySet<string> = new Set<string>([]);
