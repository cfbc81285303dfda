/** The first screen: how far the migration is, who breaks, what the rules do, and who is left. */
import { lines, NO_YES, stat, table } from "../panels.ts";
import { CLIENT, OF, OF_JOB, orZero, orZeroRecorded, orZeroWatched, rate } from "../queries.ts";

const SUM_1D = "job_api_version_mode:carryover_requests:sum1d_rate5m";
const SUM_7D = "job_api_version_mode:carryover_requests:sum7d_rate5m";
const SERVED = 'api_version="v1",mode=~"native|shadow|translate"';
const NAMED = 'client!~"unknown|other|excluded|unauthenticated"';
/** When each client last called v1, as the recording rule remembers it across rollouts. */
const LAST = `max by (client) (job_client:carryover_client_last_v1_request_timestamp_seconds:max{${OF_JOB},${CLIENT},${NAMED}})`;
const LEFT = `(${LAST} > time() - 14 * 86400)`;
/** Calls of v1 by clients without a series of their own: `unknown` and `other`. */
const UNNAMED_LEFT = `count(max by (client) (job_client:carryover_client_last_v1_request_timestamp_seconds:max{${OF_JOB},client=~"unknown|other"}) > time() - 14 * 86400)`;
const thirtyDays = (version: string): string =>
  `sum by (client) (increase(carryover_client_requests_total{${OF},${CLIENT},api_version="${version}"}[30d])) and on (client) ${LEFT}`;

const stats = [
  stat({
    title: "Clients left",
    description:
      "Clients that called v1 within 14 days, also before a rollout. The table below names them. 0 shows only after Prometheus has watched with the recording rules for 14 days, and no client without a series of its own (clients.metricSeries) or a name called v1; /clients has all.",
    unit: "short",
    noValue: "not known",
    queries: [[`count(${LEFT}) or ((${orZeroWatched(UNNAMED_LEFT)}) == 0)`, "clients"]],
    steps: [
      [null, "green"],
      [1, "blue"],
    ],
  }),
  stat({
    title: "Progress",
    description:
      "Of v1, translated: share of v1 requests that carryover served from v2 within a day; the rest went to native v1. Of all, v1: share of all requests that still call v1, within 7 days. It shows only where v2 passes through carryover, too.",
    unit: "percentunit",
    decimals: 0,
    queries: [
      [
        `(sum(${SUM_1D}{${OF_JOB},api_version="v1",mode="translate"}) or sum(${SUM_1D}{${OF_JOB},${SERVED}}) * 0) / sum(${SUM_1D}{${OF_JOB},${SERVED}})`,
        "of v1, translated",
      ],
      [
        `sum(${SUM_7D}{${OF_JOB},api_version="v1"} and on (cluster, namespace, job) ${SUM_7D}{${OF_JOB},api_version="v2"}) / sum(${SUM_7D}{${OF_JOB},api_version=~"v1|v2"} and on (cluster, namespace, job) ${SUM_7D}{${OF_JOB},api_version="v2"})`,
        "of all, v1",
      ],
    ],
    steps: [[null, "blue"]],
  }),
  stat({
    title: "v1 since four weeks ago",
    description: "By how much the v1 requests of a day fell or grew, compared with the day four weeks ago.",
    unit: "percentunit",
    decimals: 0,
    noValue: "not known yet",
    queries: [
      [
        `sum(${SUM_1D}{${OF_JOB},api_version="v1"}) / sum(${SUM_1D}{${OF_JOB},api_version="v1"} offset 4w) - 1`,
        "change",
      ],
    ],
    steps: [
      [null, "green"],
      [-0.02, "blue"],
    ],
  }),
  stat({
    title: "Rules stepped back",
    description:
      "Rules that some instance serves by native v1 again, because translation failed or differed; /rules says why. A second number shows while `force` overrides all rules.",
    unit: "short",
    queries: [
      [
        orZero(`count(count by (rule) (carryover_rule_state{${OF},state=~"back|returning|unknown"} == 1))`),
        "stepped back",
      ],
      [`max by (mode) (carryover_rules_force{${OF}}) == 1`, "all forced to {{mode}}"],
    ],
    steps: [
      [null, "green"],
      [1, "red"],
    ],
  }),
  stat({
    title: "Lists not whole",
    description:
      "Long lists within 30 minutes that did not arrive whole: the client got an error or a broken connection, never a short list. The row Lists says which and why.",
    unit: "short",
    decimals: 0,
    queries: [
      [
        orZeroRecorded(
          `sum(job_resource_outcome:carryover_lists:increase30m{${OF_JOB},outcome=~"incomplete|too-large|too-slow|unproven|overloaded|refused"})`,
        ),
        "lists",
      ],
    ],
    steps: [
      [null, "green"],
      [1, "orange"],
    ],
  }),
  stat({
    title: "Busiest pod",
    description:
      "What the busiest instance uses: of the requests in flight that it may have (limits.inFlight), and of the one core that Node's work runs on. Near 100 %, add instances.",
    unit: "percentunit",
    decimals: 0,
    queries: [
      [`max(instance:carryover_in_flight_requests:ratio{${OF}})`, "in flight"],
      [`max(rate(carryover_process_cpu_seconds_total{${OF}}[$__rate_interval]))`, "one core"],
    ],
    steps: [
      [null, "green"],
      [0.7, "orange"],
      [0.9, "red"],
    ],
  }),
];

const v1Rate = (offset = ""): string =>
  `sum(rate(carryover_requests_total{${OF},api_version="v1"}[$__rate_interval]${offset}))`;

export const firstScreen = [
  ...stats,
  lines(
    {
      title: "v1 requests a second",
      description: "v1 requests a second, beside those at the same time four weeks ago. The migration is over at 0.",
      unit: "reqps",
      queries: [
        [orZero(v1Rate()), "now"],
        [v1Rate(" offset 4w"), "four weeks ago"],
      ],
    },
    { colours: { now: "blue", "four weeks ago": "text" } },
  ),
  lines(
    {
      title: "v1 by what serves it",
      description:
        "v1 requests a second by mode: native (the platform's v1), shadow (the same, and compared), translate (carryover, from v2), refused.",
      unit: "reqps",
      queries: [[rate("carryover_requests_total", "mode", ',api_version="v1"'), "{{mode}}"]],
    },
    { stacked: true, colours: { translate: "green", shadow: "yellow", native: "orange", refused: "red" } },
  ),
  lines(
    {
      title: "Errors by client, and who is at fault",
      noValue: "no errors",
      description:
        "Errors a second of the ten clients that get most, by fault: client (the request is wrong), platform, capacity (of this instance), translation (native v1 would have served it). Only the last is carryover's to fix.",
      unit: "reqps",
      queries: [
        [
          `topk(10, ${rate("carryover_client_errors_total", "client, fault", `,${CLIENT}`)} > 0)`,
          "{{client}}: {{fault}}",
        ],
      ],
    },
    {
      colours: {
        "/: client$/": "blue",
        "/: platform$/": "orange",
        "/: capacity$/": "yellow",
        "/: translation$/": "red",
      },
    },
  ),
  table(
    {
      title: "Who is left",
      description:
        "Every client that called v1 within 14 days: when it last did, and its requests of 30 days. One whose v2 requests grow while its last v1 request gets old is moving.",
      unit: "short",
      width: 13,
      decimals: 0,
      sortBy: "Last v1 request",
      queries: [
        [`${LEFT} * 1000`, ""],
        [thirtyDays("v1"), ""],
        [thirtyDays("v2"), ""],
      ],
    },
    { client: "Client", "Value #A": "Last v1 request", "Value #B": "v1, 30 days", "Value #C": "v2, 30 days" },
    { "Value #A": "dateTimeFromNow" },
  ),
  table(
    {
      title: "Rules now",
      description:
        "What each rule does now. More rows of one rule: instances do not agree yet, since each learns by itself. The row Cutover rules has the numbers.",
      unit: "short",
      width: 11,
      queries: [
        [`max by (rule, mode) (carryover_rule_mode{${OF}} == 1)`, ""],
        [`max by (rule, state) (carryover_rule_state{${OF}} == 1)`, ""],
        [`min by (rule) (carryover_rule_could_move{${OF}})`, ""],
      ],
    },
    { rule: "Rule", mode: "Does", state: "State", "Value #C": "May move on" },
    { "Value #C": NO_YES },
  ),
];
