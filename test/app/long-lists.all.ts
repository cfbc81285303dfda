/** The same, each reading with each way. */
import "../support/every-variant.ts";
import "./long-lists.test.ts";
