/** Panels about long lists and updates. */
import { lines } from "../panels.ts";
import { rate } from "../queries.ts";

export const lists = {
  title: "Lists",
  panels: [
    lines(
      {
        title: "Lists by what they prove",
        description:
          "Lists a second that arrived whole: cover (complete by proof), count (totals agree), none. A cover that becomes none: a habit of the platform has changed.",
        unit: "ops",
        queries: [[rate("carryover_lists_total", "witness", ',outcome="complete"'), "{{witness}}"]],
      },
      { stacked: true },
    ),
    lines({
      title: "Lists that were not answered whole",
      description:
        "Lists a second that ended otherwise: the client got an error or a broken connection, never a short list. aborted: nobody waited.",
      unit: "ops",
      queries: [
        [rate("carryover_lists_total", "resource, outcome", ',outcome!="complete"'), "{{resource}} {{outcome}}"],
      ],
    }),
    lines({
      title: "What was noted about lists",
      description:
        "Notes a second about lists: repaired borders are harmless; list-order, list-skip-ignored and list-duplicate are habits of the platform (docs/lists.md).",
      unit: "ops",
      queries: [[rate("carryover_notes_total", "note", ',note=~"list-.*"'), "{{note}}"]],
    }),
  ],
};

export const updates = {
  title: "Updates",
  panels: [
    lines({
      title: "Fields set to zero",
      description:
        "Fields that a PUT left out, and that became zero as v1 has it: what these clients lose when they patch with v2 instead.",
      unit: "ops",
      queries: [
        [`topk(10, ${rate("carryover_update_defaulted_fields_total", "resource, field")})`, "{{resource}} {{field}}"],
      ],
    }),
    lines({
      title: "Fields not stored as asked",
      description:
        "Fields that the platform stored otherwise than a PUT asked. updates.mismatch decides what the client hears.",
      unit: "ops",
      queries: [[rate("carryover_update_mismatches_total", "resource, field"), "{{resource}} {{field}}"]],
      steps: [
        [null, "green"],
        [0.001, "red"],
      ],
    }),
    lines({
      title: "Unknown fields",
      description: "Fields in no row of the catalogue, each once a request. /unknown-fields has their names.",
      unit: "ops",
      queries: [[rate("carryover_unknown_fields_total", "resource, direction"), "{{resource}} {{direction}}"]],
    }),
  ],
};
