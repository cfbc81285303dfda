/** carryover with the sandbox's descriptors, before a sandbox of its own. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { type GrpcClient, grpcClient } from "../../../sandbox/test/grpc-client.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import type { Comparison } from "../../../src/model/comparison.ts";
import type { Exchange } from "../../../src/model/exchange.ts";
import { type Carryover, type CarryoverOptions, startCarryover } from "../../support/carryover.ts";
import { later } from "../../support/take-down.ts";

export interface Translating {
  readonly sandbox: Sandbox;
  readonly sandboxUrl: string;
  readonly carryover: Carryover;
  readonly client: GrpcClient;
  readonly rpc: string;
  readonly exchanges: Exchange[];
  readonly comparisons: Comparison[];
}

/** A file with these contents. */
export function fileWith(contents: Uint8Array | string): string {
  const file = join(mkdtempSync(join(tmpdir(), "carryover-grpc-")), "file");
  writeFileSync(file, contents);
  return file;
}

export interface TranslatingOptions extends Pick<CarryoverOptions, "grpcTimeouts"> {
  /** The sandbox is native v1, too. */
  readonly native?: boolean;
  readonly platform?: SandboxOptions;
}

export async function translating(
  flags: Readonly<Record<string, string>> = {},
  { native = false, platform = {}, ...rest }: TranslatingOptions = {},
): Promise<Translating> {
  const sandbox = seededSandbox({ recordTimes: "published", ...platform });
  const exchanges: Exchange[] = [];
  const comparisons: Comparison[] = [];
  const { url } = await sandbox.listen();
  const carryover = await startCarryover({
    v2Url: url,
    ...(native ? { v1Url: url } : {}),
    flags: {
      listenGrpcPort: "0",
      grpcDescriptors: fileWith(sandbox.descriptors()),
      v1RecordTimes: "published",
      ...flags,
    },
    onExchange: (exchange) => exchanges.push(exchange),
    onComparison: (comparison) => comparisons.push(comparison),
    ...rest,
  });
  const rpc = carryover.grpcUrl ?? "";
  const client = grpcClient(sandbox, rpc);
  later(async () => {
    client.close();
    await carryover.close();
    await sandbox.close();
  });
  return { sandbox, sandboxUrl: url, carryover, client, rpc, exchanges, comparisons };
}
