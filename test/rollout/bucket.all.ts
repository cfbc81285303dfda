import { stickinessOf } from "./stickiness.ts";

stickinessOf(100_000);
