/** The tests of lists in every way of reading. */
import "../../support/every-variant.ts";
import "./whole.test.ts";
