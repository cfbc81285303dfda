/** Imported before the tests of a `*.all.ts` file: from here on `variants` gives all of them. */
import { tryEverything } from "./tier.ts";

tryEverything();
