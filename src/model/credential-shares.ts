/** Who counts as one caller where something is shared out among callers? */

export interface CredentialShares {
  /**
   * Names the caller that has `credential`, a keyed digest. Each that the platform accepted lately is a caller of its own; all
   * others are one, since anybody can invent as many tokens as there are shares.
   */
  shareOf(credential: string): string;
  /** Whether the platform accepted `credential` lately. */
  accepted(credential: string): boolean;
  /** The platform answered a call of `credential` with `status`. */
  answered(credential: string, status: number): void;
}

/** The caller of all requests without a credential that the platform is known to accept. */
export const ANONYMOUS_SHARE = "";

/** Everybody is one caller. */
export const SINGLE_SHARE: CredentialShares = {
  shareOf: () => ANONYMOUS_SHARE,
  accepted: () => true,
  answered: () => {},
};
