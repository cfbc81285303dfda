/** Reads the results of `carryover replay --json` for an exam. */
import * as z from "zod";
import { ArgumentError } from "../../config/faults.ts";
import type { ExamReplay } from "../../fleet/exam-operations.ts";
import { parsedJson } from "../../model/json.ts";
import type { CommandIo } from "../command.ts";

const Names = { resource: z.string().max(128), operation: z.string().max(128) };
const Amount = z.number().int().nonnegative();
const Replay = z.object({
  verdict: z.enum(["equal", "different", "unknown"]),
  stopped: z.string().optional(),
  clients: z.array(z.object({ client: z.string() })),
  operations: z.array(z.object({ ...Names, compared: Amount })),
  differences: z.array(
    z.object({ ...Names, class: z.string(), path: z.string(), requests: Amount, set: z.string().optional() }),
  ),
});

/** Throws ArgumentError for anything else than a replay of this client alone. */
export function readReplay(file: string, client: string, io: Pick<CommandIo, "readFile">): ExamReplay {
  const refused = (what: string, remedy = "use what carryover replay --json printed"): ArgumentError =>
    new ArgumentError({ where: "--replay", what: `${file} ${what}`, remedy });
  let text: string;
  try {
    text = new TextDecoder().decode(io.readFile(file));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw refused(`cannot be read: ${why}`, "correct the name");
  }
  const read = Replay.safeParse(parsedJson(text));
  if (!read.success) throw refused("has no results of a replay");
  const { clients, operations, differences, stopped } = read.data;
  const others = clients.find((one) => one.client !== client);
  const replayed = `run carryover replay --json --client ${client}`;
  if (others !== undefined) throw refused(`has requests of ${JSON.stringify(others.client)} too`, replayed);
  if (clients.length === 0) throw refused(`has no request of ${JSON.stringify(client)}`, replayed);
  if (stopped !== undefined) throw refused(`is of a replay that stopped (${stopped})`, `${replayed} again`);
  return {
    operations,
    differences: differences.map(({ class: what, requests: count, set = null, ...rest }) => {
      return { ...rest, what, count, set };
    }),
  };
}
