/** The property tests with as many cases as take minutes, and whether the fuzz of filters finds each mistake in the catalogue. */
import "../support/every-variant.ts";
import "./filters.test.ts";
import "./translate.test.ts";
import "./drain.test.ts";
import "./bad-input.test.ts";
import "./other-parameters.test.ts";
import "../json/rewrite.property.test.ts";
import "../json/reuse.test.ts";
import "../json/tree.test.ts";
import "../share/tenants.property.test.ts";
import "../share/key.test.ts";
