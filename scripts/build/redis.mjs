/**
 * The part of @redis/client that carryover uses: a connection, and the class of error replies. Its own index also loads cluster and sentinel clients, and a
 * method for each of some 400 commands; carryover sends commands as words.
 */
import client from "@redis/client/dist/lib/client/index.js";

export const { create: createClient } = client.default;
export { ErrorReply } from "@redis/client/dist/lib/errors.js";
