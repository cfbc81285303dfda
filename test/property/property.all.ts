/** The property tests with two to five times as many cases as in `npm test`. */
import "../support/every-variant.ts";
import "./filters.test.ts";
import "./translate.test.ts";
import "./bad-input.test.ts";
import "../json/rewrite.property.test.ts";
import "../json/reuse.test.ts";
