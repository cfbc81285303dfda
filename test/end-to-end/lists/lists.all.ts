/** The tests of lists in every way of reading, with every kind of fault. */
import "../../support/every-variant.ts";
import "./whole.test.ts";
import "./faults.test.ts";
import "./pace.test.ts";
