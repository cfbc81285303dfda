/** Until when does a request matter? */

const UNITS: ReadonlyMap<string, number> = new Map([
  ["H", 3_600_000],
  ["M", 60_000],
  ["S", 1_000],
  ["m", 1],
  ["u", 1e-3],
  ["n", 1e-6],
]);

/** Milliseconds a client gives in `Grpc-Timeout` (`250m`, `1S`); undefined when there is none or it cannot be read. */
export function clientTimeout(value: string | undefined): number | undefined {
  const match = value === undefined ? null : /^(\d{1,8})([HMSmun])$/.exec(value);
  const unit = UNITS.get(match?.[2] ?? "");
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}
