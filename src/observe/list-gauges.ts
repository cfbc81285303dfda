/** What do long lists take up at present? (Design section 5, limits of parallelism.) */

/** Read when somebody asks for metrics. */
export interface ListGauges {
  /** Page reads of the upstream. */
  readers(): {
    readonly limit: number;
    readonly inFlight: number;
    readonly waiting: number;
    /** Milliseconds until the platform may be called again. */
    readonly gatedMs: number;
  };
  /** Lists of more than one page. */
  slots(): { readonly drains: number; readonly waiting: number };
}

/** Registers them; `gauge` makes one of a name (without the prefix), its help, and how it is read. */
export function createListGauges(
  gauge: (name: string, help: string, read: () => number) => void,
  { readers, slots }: ListGauges,
): void {
  gauge(
    "list_readers_limit",
    "Pages that may be read at a time; falls when the platform is slow or refuses",
    () => readers().limit,
  );
  gauge("list_readers", "Pages being read", () => readers().inFlight);
  gauge("list_readers_waiting", "Pages that wait to be read", () => readers().waiting);
  gauge("list_readers_paused_seconds", "Time until the platform may be asked again", () => readers().gatedMs / 1000);
  gauge("lists_in_progress", "Long lists being read", () => slots().drains);
  gauge("lists_waiting", "Long lists that wait for their turn", () => slots().waiting);
}
