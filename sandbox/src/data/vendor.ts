/** What carries the vendor's name on the wire? A JSON key of account associations, and the names of typed details. */
export const VENDOR_KEY = "chainguard";
/** The package of the platform's own message types, as the `@type` of a detail spells it. */
export const VENDOR_TYPES = `${VENDOR_KEY}.platform`;
