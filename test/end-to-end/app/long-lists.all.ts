/** Long lists: each reading of `skipped` with each way of reading. */
import "../../support/every-variant.ts";
import "./long-lists.test.ts";
