/** Rows of text that a replica keeps in the shared store, and what other contributors keep there. */
export interface Contributions {
  /**
   * Replaces the row `name` of this contributor; undefined removes it. Takes no time: it is sent with one of the next ticks. At most 48 KiB
   * of text per row.
   */
  put(name: string, text: string | undefined): void;
  /** All that contributed, those that are gone included. Rejects with StoreError. */
  contributors(): Promise<readonly Contributor[]>;
  /** All rows of one of them. Rejects with StoreError. */
  rowsOf(id: string): Promise<ReadonlyMap<string, string>>;
}

export interface Contributor {
  readonly id: string;
  /** By the clock of the store, milliseconds since 1970. */
  readonly heardAt: number;
  /** JSON. */
  readonly about: string;
}
