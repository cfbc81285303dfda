/** Parses Prometheus text and rejects what Prometheus would reject. */

export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

export interface Parsed {
  /** Metric name to type. */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/gy;

/** Throws for samples without HELP and TYPE, series that are there twice, families in pieces, values that are none. */
export function parsePrometheus(text: string): Parsed {
  const types = new Map<string, string>();
  const helps = new Set<string>();
  const seen = new Set<string>();
  const finished = new Set<string>();
  const samples: Sample[] = [];
  let family = "";
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === "HELP") {
      if (helps.has(name)) throw new Error(`HELP twice: ${name}`);
      helps.add(name);
      finished.add(family);
      family = name;
      if (finished.has(name)) throw new Error(`family in pieces: ${name}`);
    } else if (kind === "TYPE") {
      if (types.has(name)) throw new Error(`TYPE twice: ${name}`);
      types.set(name, rest);
    } else {
      const sample = parseSample(line);
      const series = line.slice(0, line.lastIndexOf(" "));
      if (seen.has(series)) throw new Error(`series twice: ${series}`);
      seen.add(series);
      const base = sample.name.replace(/_(bucket|sum|count)$/, "");
      if (family !== sample.name && family !== base) throw new Error(`outside its family: ${line}`);
      if (!types.has(family) || !helps.has(family)) throw new Error(`no HELP or TYPE: ${line}`);
      samples.push(sample);
    }
  }
  return { types, samples };
}

function parseSample(line: string): Sample {
  const [, name = "", inside = "", value = ""] = SAMPLE.exec(line) ?? [];
  if (name === "") throw new Error(`no sample: ${line}`);
  const labels = new Map<string, string>();
  let length = 0;
  for (const match of inside.matchAll(LABEL)) {
    labels.set(match[1] ?? "", match[2] ?? "");
    length += match[0].length;
  }
  if (length !== inside.length) throw new Error(`labels cannot be read: ${line}`);
  const number = value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value);
  // Prometheus reads NaN in any case of its letters.
  if (Number.isNaN(number) && !/^nan$/i.test(value)) throw new Error(`no number: ${line}`);
  return { name, labels, value: number };
}

/** The value of the series `name` with just these labels; undefined when there is none. */
export function sampleValue(
  parsed: Parsed,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = Object.entries(labels);
  return parsed.samples.find(
    (sample) =>
      sample.name === name &&
      sample.labels.size === wanted.length &&
      wanted.every(([key, value]) => sample.labels.get(key) === value),
  )?.value;
}
