/**
 * What carryover and @fastify/reply-from use of undici. Its own index also loads fetch, WebSocket, caches and mocks: most of its code,
 * and of the time that loading it takes. A name that is missing here, and imported by `src`, fails the build.
 */
export { default as buildConnector } from "undici/lib/core/connect.js";
export { default as Agent } from "undici/lib/dispatcher/agent.js";
export { default as BalancedPool } from "undici/lib/dispatcher/balanced-pool.js";
export { default as Client } from "undici/lib/dispatcher/client.js";
export { default as Dispatcher } from "undici/lib/dispatcher/dispatcher.js";
export { default as Pool } from "undici/lib/dispatcher/pool.js";
