/** The gRPC port as the composition root sees it: its code is loaded only where there is such a port. */
import type { Config } from "../config/config.ts";
import type { GrpcPortParts } from "../grpc/port.ts";
import type { GrpcServer } from "../grpc/server.ts";

export type { GrpcTimeouts } from "../grpc/port.ts";

/** Undefined without `listen.grpc.port`. */
export function createGrpcListener(config: Config, parts: GrpcPortParts): GrpcServer | undefined {
  const { port } = config.listen.grpc;
  if (port === undefined) return undefined;
  let made: GrpcServer | undefined;
  return {
    listen: async () => {
      const { createGrpcPort } = await import("../grpc/port.ts");
      made = createGrpcPort(config, port, parts);
      return made.listen();
    },
    beginShutdown: () => made?.beginShutdown(),
    close: async (graceMs) => (await made?.close(graceMs)) ?? 0,
  };
}
