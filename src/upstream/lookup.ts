/** Which addresses has a name, if any? */
import { lookup as ofMachine } from "node:dns";
import type { LookupFunction } from "node:net";

/** As `lookup`, but that no address at all is an error: Node's own connecting throws where nobody can catch it. */
export function neverEmpty(lookup: LookupFunction = ofMachine): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      if (error !== null || found.length > 0) return callback(error, found, family);
      callback(Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" }), "", 0);
    });
  };
}
