/** The vendor's name on the wire: a JSON key of account associations, and a part of the names of typed details. */
export const VENDOR_KEY = "chainguard";
/** The package of the platform's own message types, as the `@type` of a detail spells it. */
export const VENDOR_TYPES = `${VENDOR_KEY}.platform`;
/** The message of account associations that carries the vendor's name. */
export const VENDOR_MESSAGE = "Chainguard";
