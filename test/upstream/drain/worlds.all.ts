/** Some 800,000 worlds; `npm run test:long` tries 3 million. */
import "../../support/every-variant.ts";
import "./worlds.test.ts";
