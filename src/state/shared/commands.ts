/** The commands that replicas send to the shared store, directly or from their script. An account needs no others (docs/scale.md). */
export const STORE_COMMANDS = ["EVAL", "EVALSHA", "TIME", "HGET", "HSET", "HDEL", "HGETALL", "EXPIRE"] as const;

export type StoreCommand = (typeof STORE_COMMANDS)[number];
