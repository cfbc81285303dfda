/** Divides limits among callers by credential. */
export interface CredentialShares {
  /**
   * The caller with `credential`, a keyed digest. Each credential that the platform accepted lately is a caller of its own; all
   * others are one, because anybody can invent as many tokens as there are shares.
   */
  shareOf(credential: string): string;
  /** True if the platform accepted `credential` lately. */
  accepted(credential: string): boolean;
  /** The platform answered a call of `credential` with `status`. */
  answered(credential: string, status: number): void;
}

/** The caller of all requests without a credential that the platform is known to accept. */
export const ANONYMOUS_SHARE = "";

/** All are one caller. */
export const SINGLE_SHARE: CredentialShares = {
  shareOf: () => ANONYMOUS_SHARE,
  accepted: () => true,
  answered: () => {},
};
