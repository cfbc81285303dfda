/**
 * Is what the runbook asks of a metric true? (The small part of PromQL that the runbook speaks, over `/metrics` of one
 * instance; anything else is an error, so that nothing is believed that was not worked out.)
 */

/** @typedef {{ labels: Record<string, string>, value: number }} Sample */
/** @typedef {ReadonlyMap<string, readonly Sample[]>} Metrics samples by name; a name without any has an empty list */

const AGGREGATES = new Map([
  ["sum", (values) => values.reduce((sum, value) => sum + value, 0)],
  ["max", (values) => Math.max(...values)],
  ["min", (values) => Math.min(...values)],
  ["count", (values) => values.length],
]);
const COMPARES = new Map([
  ["==", (a, b) => a === b],
  ["!=", (a, b) => a !== b],
  [">", (a, b) => a > b],
  ["<", (a, b) => a < b],
  [">=", (a, b) => a >= b],
  ["<=", (a, b) => a <= b],
]);
const ARITHMETIC = new Map([
  ["+", (a, b) => a + b],
  ["-", (a, b) => a - b],
  ["*", (a, b) => a * b],
  ["/", (a, b) => a / b],
]);
const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?)|([a-zA-Z_:][\w:]*)|("(?:[^"\\]|\\.)*")|(\[\d+[smhdw]\])|(=~|!~|==|!=|>=|<=|[=<>+\-*/(){},]))/y;

/** The text of `/metrics`, read. */
export function readMetrics(text) {
  const metrics = new Map();
  for (const line of text.split("\n")) {
    const [, declared] = /^# TYPE (\S+)/.exec(line) ?? [];
    if (declared !== undefined && !metrics.has(declared)) metrics.set(declared, []);
    const [, name, inner = "", value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const labels = Object.fromEntries(
      [...inner.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, k, v]) => [k, v]),
    );
    metrics.set(name, [...(metrics.get(name) ?? []), { labels, value: Number(value) }]);
  }
  return metrics;
}

/**
 * `{ holds, seen }`: whether the comparison `text` is true of `now`, and what stands on its left. `increase` counts from
 * `before`, whatever its range. Throws for what this does not speak, for a metric that is not there, and for a label that it lacks.
 */
export function judge(text, now, before) {
  const tree = parse(text);
  if (tree.kind !== "compare") throw new Error(`not a comparison: ${text}`);
  const context = { now, before };
  const holds = evaluate(tree, context).length > 0;
  return { holds, seen: shown(evaluate(tree.left, context)) };
}

function shown(samples) {
  if (samples.length === 0) return "nothing";
  return samples.map(({ value }) => String(Number(value.toPrecision(4)))).join(", ");
}

/** @returns {any} a tree; throws with the place for what is not spoken */
export function parse(text) {
  const tokens = tokensOf(text);
  let at = 0;
  const peek = () => tokens[at]?.text;
  const take = (wanted) => {
    const token = tokens[at];
    if (token === undefined || (wanted !== undefined && token.text !== wanted)) {
      throw new Error(`${JSON.stringify(text)}: expected ${wanted ?? "more"}, got ${token?.text ?? "its end"}`);
    }
    at += 1;
    return token;
  };
  const both = (next, kind, operators) => () => {
    let left = next();
    while (operators.has(peek())) left = { kind, operator: take().text, left, right: next() };
    return left;
  };
  const product = both(() => atom(), "arithmetic", new Set(["*", "/"]));
  const sum = both(product, "arithmetic", new Set(["+", "-"]));
  const compare = both(sum, "compare", COMPARES);
  const either = both(compare, "or", new Set(["or"]));
  const inside = (next) => {
    take("(");
    const inner = next();
    take(")");
    return inner;
  };
  const atom = () => {
    if (peek() === "(") return inside(either);
    const token = take();
    if (token.kind === "number") return { kind: "number", value: Number(token.text) };
    if (token.kind !== "name") throw new Error(`${JSON.stringify(text)}: ${token.text} is not spoken here`);
    if (AGGREGATES.has(token.text)) return { kind: "aggregate", by: token.text, of: inside(either) };
    if (token.text === "vector") return inside(atom);
    if (token.text === "absent") return { kind: "absent", of: inside(() => selector(take())) };
    if (token.text === "increase") {
      return { kind: "increase", of: inside(() => ranged(selector(take()))) };
    }
    return selector(token);
  };
  const ranged = (of) => {
    if (take().kind !== "range") throw new Error(`${JSON.stringify(text)}: increase needs a range`);
    return of;
  };
  const selector = ({ text: name }) => {
    const matchers = [];
    if (peek() === "{") {
      do {
        take();
        const { text: label } = take();
        matchers.push({ label, operator: take().text, value: JSON.parse(take().text) });
      } while (peek() === ",");
      take("}");
    }
    return { kind: "selector", name, matchers };
  };
  const tree = either();
  if (at < tokens.length) throw new Error(`${JSON.stringify(text)}: ${peek()} is not spoken here`);
  return tree;
}

function tokensOf(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const from = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) throw new Error(`${JSON.stringify(text)}: ${text.slice(from)} is not spoken here`);
    const kinds = ["", "number", "name", "string", "range", "sign"];
    const kind = kinds[found.findIndex((group, index) => index > 0 && group !== undefined)];
    tokens.push({ kind, text: found[0].trim() });
  }
  return tokens;
}

function evaluate(tree, context) {
  switch (tree.kind) {
    case "number":
      return [{ labels: {}, value: tree.value }];
    case "selector":
      return select(tree, context.now);
    case "increase":
      return increased(tree.of, context);
    case "absent":
      return select(tree.of, context.now).length === 0 ? [{ labels: {}, value: 1 }] : [];
    case "aggregate": {
      const values = evaluate(tree.of, context).map(({ value }) => value);
      return values.length === 0 ? [] : [{ labels: {}, value: AGGREGATES.get(tree.by)(values) }];
    }
    case "or": {
      const left = evaluate(tree.left, context);
      return left.length > 0 ? left : evaluate(tree.right, context);
    }
    default:
      return combined(tree, context);
  }
}

/** Of aggregates and numbers only: how PromQL matches labels of two sides is not spoken here. */
function combined({ kind, operator, left, right }, context) {
  const a = evaluate(left, context);
  const b = evaluate(right, context);
  if (a.length === 0 || b.length === 0) return [];
  if (a.length > 1 || b.length > 1) throw new Error("both sides of an operator must be one number");
  const [{ value: one }] = a;
  const [{ value: other }] = b;
  if (kind === "compare") return COMPARES.get(operator)(one, other) ? a : [];
  return [{ labels: {}, value: ARITHMETIC.get(operator)(one, other) }];
}

function select({ name, matchers }, metrics) {
  const samples = metrics.get(name);
  if (samples === undefined) throw new Error(`there is no metric ${name}`);
  for (const { label } of matchers) {
    if (samples.length > 0 && !samples.some(({ labels }) => label in labels))
      throw new Error(`${name} has no label ${label}`);
  }
  return samples.filter(({ labels }) => matchers.every((matcher) => matches(matcher, labels[matcher.label] ?? "")));
}

function matches({ operator, value }, label) {
  if (operator === "=") return label === value;
  if (operator === "!=") return label !== value;
  const like = new RegExp(`^(?:${value})$`).test(label);
  return operator === "=~" ? like : !like;
}

/** A counter that went down began anew: all of it is new. */
function increased(of, { now, before }) {
  const key = ({ labels }) => JSON.stringify(Object.entries(labels).sort());
  const old = new Map((before.has(of.name) ? select(of, before) : []).map((sample) => [key(sample), sample.value]));
  return select(of, now).map((sample) => {
    const was = old.get(key(sample)) ?? 0;
    return { ...sample, value: sample.value >= was ? sample.value - was : sample.value };
  });
}
