import type { Guard } from "./guard.ts";
import { FASTIFY } from "./lists/fastify.ts";
import { FRONT } from "./lists/front.ts";
import { GRPC } from "./lists/grpc.ts";
import { INSIDE } from "./lists/inside.ts";
import { LISTS } from "./lists/lists.ts";
import { PLATFORM } from "./lists/platform.ts";
import { WRITES } from "./lists/writes.ts";

export const GUARDS: readonly Guard[] = [...FRONT, ...PLATFORM, ...LISTS, ...WRITES, ...INSIDE, ...GRPC, ...FASTIFY];
