/**
 * What carryover uses of undici. Its own index also loads fetch, WebSocket, caches and mocks: most of its code, and of the time that loading
 * it takes. A name that is missing here, and imported by `src`, fails the build.
 */
export { default as Pool } from "undici/lib/dispatcher/pool.js";
