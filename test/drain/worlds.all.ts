/** The same worlds, more of them. */
import "../support/every-variant.ts";
import "./worlds.test.ts";
