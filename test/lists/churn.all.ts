/** Lists of all lengths that are read while others write, ten times as many as in `npm test`. */
import "../support/every-variant.ts";
import "./churn.test.ts";
