/** Does one rule take whatever another takes, as far as header, cookie and percentage decide? */
import type { RuleMatch } from "../model/rules.ts";

type CanaryMatch = Pick<RuleMatch, "header" | "cookie" | "percent">;

/**
 * True when every request that `inner` takes by header, cookie or percentage is taken by `outer` too. Follows the order of
 * `canaryOf`: a value that `inner` takes by itself is to be taken by the rest of `outer`, and `never` ends it for both.
 */
export function coversCanary(outer: CanaryMatch, inner: CanaryMatch): boolean {
  if (outer.header === undefined && outer.cookie === undefined && shareOf(outer, false) >= 100) return true;
  if (outer.header !== undefined) {
    // A request with never in this field is lost to the outer rule alone.
    if (outer.header.name !== inner.header?.name) return false;
    if (outer.header.value !== inner.header.value) return takesRest(outer);
  } else if (inner.header !== undefined) {
    return false;
  }
  return coversFromCookie(outer, inner, outer.header !== undefined);
}

/** The same where no header field spoke. `selects`: both rules have a header. */
function coversFromCookie(outer: CanaryMatch, inner: CanaryMatch, selects: boolean): boolean {
  if (outer.cookie !== undefined) {
    if (inner.cookie === undefined) return shareOf(inner, selects) === 0;
    if (outer.cookie.name !== inner.cookie.name) return false;
    if (outer.cookie.value !== inner.cookie.value) return shareOf(outer, true) >= 100;
    return shareOf(outer, true) >= shareOf(inner, true);
  }
  if (inner.cookie !== undefined) return shareOf(outer, selects) >= 100;
  return shareOf(outer, selects) >= shareOf(inner, selects);
}

/** Whether whatever the header leaves open is taken. */
function takesRest(match: CanaryMatch): boolean {
  return match.cookie === undefined && shareOf(match, true) >= 100;
}

/** Percentage of clients that are taken when neither header nor cookie spoke. */
function shareOf({ percent }: CanaryMatch, selects: boolean): number {
  return percent ?? (selects ? 0 : 100);
}
