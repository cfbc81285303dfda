import { describeStore } from "./contract.ts";
import { createMemoryStore, emptyData } from "./memory-store.ts";

describeStore("in memory", () => {
  let random = 0;
  const store = createMemoryStore(
    () => 1_700_000_000_000,
    () => `fresh-${random++}`,
  );
  return { store, empty: async () => store.replace(emptyData()) };
});
