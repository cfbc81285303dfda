/** What is tried under one id. */
export interface Row {
  /** Begins the titles of the tests that try it. */
  readonly id: string;
  readonly what: string;
  /** Why nothing is tried under this id. */
  readonly notApplicable?: string;
}

/** What a reader wants to rely on, and what stands for it. */
export interface TrustPromise {
  readonly title: string;
  readonly says: string;
  readonly rows: readonly Row[];
}

export function row(id: string, what: string): Row {
  return { id, what };
}
