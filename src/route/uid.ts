/** How is a uid written into a path? */
import { checkSegments, invalidPath, show } from "./path.ts";

/** What a uid may not hold: anything but letters, digits, `-`, `_`, `.` and the `/` between its segments. */
const FOREIGN = /[^A-Za-z0-9\-_./]/;
const SHAPE = 'segments of letters, digits, "-", "_" and "." with single "/" between them';

/**
 * `uid` itself when it has the shape of a uid (design: paths): one or more segments of letters, digits, `-`, `_`, `.`,
 * none of them empty or of nothing but dots. Lengths are not checked, hex is not required.
 * Throws `Problem` INVALID_PATH.
 */
export function emitUid(uid: string): string {
  const foreign = FOREIGN.exec(uid);
  if (foreign !== null) throw invalidPath(show(foreign[0]), `at offset ${foreign.index} of the uid`, SHAPE);
  if (uid === "" || uid.startsWith("/") || uid.endsWith("/")) throw invalidPath("empty segment", "in the uid", SHAPE);
  checkSegments(`/${uid}`);
  return uid;
}

/** A digest or another name of one segment. */
const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._:+-]*$/;

/** `segment` itself when it can stand for one thing in a path, such as a digest. Throws `Problem` INVALID_PATH. */
export function emitSegment(segment: string): string {
  if (SEGMENT.test(segment)) return segment;
  throw invalidPath("a segment", "where one name stands", 'letters, digits, "-", "_", ".", "+" and ":"');
}
