/** The model of a drain, twice as many runs of each scenario as in `npm test`, and all small lists with two writes. */
import "../../support/every-variant.ts";
import "./exploration.test.ts";
import "./odd-platforms.test.ts";
import "./streaming.test.ts";
