/** The gRPC port as the composition root sees it: its code is loaded only where there is such a port. */
import type { Config } from "./config/config.ts";
import type { GrpcPort, GrpcPortParts } from "./grpc/port.ts";

export type { GrpcTimeouts } from "./grpc/port.ts";

/** As `GrpcPort`, before and after it is loaded. */
export type GrpcListener = GrpcPort;

/** Undefined without `listen.grpc.port`. */
export function createGrpcListener(config: Config, parts: GrpcPortParts): GrpcListener | undefined {
  const { port } = config.listen.grpc;
  if (port === undefined) return undefined;
  let made: GrpcPort | undefined;
  return {
    listen: async () => {
      const { createGrpcPort } = await import("./grpc/port.ts");
      made = createGrpcPort(config, port, parts);
      return made.listen();
    },
    beginShutdown: () => made?.beginShutdown(),
    close: async (graceMs) => (await made?.close(graceMs)) ?? 0,
    breakers: () => made?.breakers() ?? [],
    streamsOf: (credential) => made?.streamsOf(credential) ?? 0,
  };
}
