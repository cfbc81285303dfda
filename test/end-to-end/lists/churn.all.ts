/** Lists of all lengths that are read while others write, three times as many as in `npm test`. */
import "../../support/every-variant.ts";
import "./churn.test.ts";
