/** Who counts as one caller where something is shared out among callers? */

/** Which credentials has the platform accepted lately? A credential is named by its keyed digest. */
export interface Acceptance {
  accepted(credential: string): boolean;
}

export interface Callers {
  /**
   * Names the caller that sent `authorization`. Each credential that the platform accepted lately is a caller of its own; all
   * others are one, since anybody can invent as many tokens as there are shares.
   */
  of(authorization: string | undefined): string;
  /** The platform served a request that had `authorization`. */
  served(authorization: string | undefined): void;
}

/** The caller of all requests without a credential that the platform is known to accept. */
export const ANONYMOUS = "";

/** Everybody is one caller. */
export const ONE_CALLER: Callers = { of: () => ANONYMOUS, served: () => {} };
