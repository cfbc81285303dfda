/** Which operations take several calls to v2, or a body that rows alone cannot say? The catalogue names them. */
import type { CompositeName } from "../model/resource.ts";
import type { Composite, CompositeOperation } from "./composites/composite.ts";
import { createBatch } from "./composites/create-batch.ts";
import { createCreateOrReplace } from "./composites/create-or-replace.ts";
import { createListMember } from "./composites/list-member.ts";
import { createLookUp } from "./composites/look-up.ts";
import { createReplaceByCreate } from "./composites/replace-by-create.ts";
import { createReplaceWithSub } from "./composites/replace-with-sub.ts";
import { createSummarise } from "./composites/summarise.ts";
import { createUpdateWrapped } from "./composites/update-wrapped.ts";
import type { Parts } from "./parts.ts";
import type { Translation } from "./tools.ts";

const COMPOSITES: Readonly<Partial<Record<CompositeName, Composite>>> = {
  "create-batch": createBatch,
  "create-or-replace": createCreateOrReplace,
  "list-member": createListMember,
  "look-up": createLookUp,
  "replace-by-create": createReplaceByCreate,
  "replace-with-sub": createReplaceWithSub,
  summarise: createSummarise,
  "update-wrapped": createUpdateWrapped,
};

/** The translation of an operation that names a composite. */
export function createComposite(operation: CompositeOperation, parts: Parts): Translation {
  const composite = COMPOSITES[operation.by];
  if (composite === undefined)
    throw new Error(`${parts.resource.name} ${operation.name}: no composite ${operation.by}`);
  return composite(operation, parts);
}
