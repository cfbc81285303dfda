/** What descriptors lack of what carryover translates. */
import type { Operation, Resource } from "../model/resource.ts";
import type { Descriptors } from "./descriptors.ts";

export interface DescriptorGaps {
  /** Unary v1 rpcs that are translated. */
  readonly translated: number;
  /** Operations for which no rpc stands: `group list`. */
  readonly operations: readonly string[];
  /** Fields of records that their messages do not have: `group.createdAt`. */
  readonly fields: readonly string[];
}

export function gapsOf({ rpcs }: Descriptors, resources: readonly Resource[]): DescriptorGaps {
  const served = new Map<Operation, ReadonlySet<string>>();
  for (const { version, route, method } of rpcs.values()) {
    if (version !== "v1" || route?.kind !== "match" || method.methodKind !== "unary") continue;
    served.set(route.match.operation, new Set(method.output.fields.map(({ jsonName }) => jsonName)));
  }
  const operations: string[] = [];
  const fields = new Set<string>();
  for (const { name, operations: all } of resources) {
    for (const operation of all) {
      const members = served.get(operation);
      // v1 had no such operation, over gRPC neither.
      const isExtension = operation.kind === "get" && operation.extension;
      if (members === undefined && operation.kind !== "native" && !isExtension)
        operations.push(`${name} ${operation.name}`);
      if (members === undefined || operation.kind !== "create") continue;
      for (const { v1 } of operation.answer.rows) {
        if (v1 !== undefined && !v1.includes(".") && !members.has(v1)) fields.add(`${name}.${v1}`);
      }
    }
  }
  return { translated: served.size, operations, fields: [...fields] };
}
