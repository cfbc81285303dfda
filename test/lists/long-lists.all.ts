/** The tests of pace, long lists and bad pages in every way of reading. */
import "../support/every-variant.ts";
import "./pace.test.ts";
import "./large.test.ts";
import "./bad-pages.test.ts";
