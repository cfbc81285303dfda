/** What is the one wire name that carries the vendor's name? A JSON key of account associations; it is spelt here only. */
export const VENDOR_KEY = "chainguard";
