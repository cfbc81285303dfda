/** Panels about the migration's progress, below the first screen. */
import { lines, table } from "../panels.ts";
import { CLIENT, OF, OF_JOB, rate } from "../queries.ts";

const SUM_7D = "job_api_version_mode:carryover_requests:sum7d_rate5m";
const WITH_V2 = `and on (cluster, namespace, job) ${SUM_7D}{${OF_JOB},api_version="v2"}`;

export const progress = {
  title: "Progress",
  panels: [
    lines(
      {
        title: "Requests by version",
        description:
          "Requests a second by the version that they call: v1 shrinks, v2 grows. v2 shows only where it passes through carryover, too.",
        unit: "reqps",
        queries: [[rate("carryover_requests_total", "api_version"), "{{api_version}}"]],
      },
      { stacked: true },
    ),
    lines(
      {
        title: "v1 requests by client",
        description:
          "The ten clients that call v1 most. other: those without a series of their own (clients.metricSeries).",
        unit: "reqps",
        queries: [
          [
            `topk(10, ${rate("carryover_client_requests_total", "client", `,${CLIENT},api_version="v1"`)})`,
            "{{client}}",
          ],
        ],
      },
      { stacked: true },
    ),
    lines({
      title: "Clients in the ledger",
      description:
        "Clients that an instance's ledger knows, by the version that they call; the greatest of all instances.",
      unit: "short",
      queries: [[`max by (api_version) (carryover_clients{${OF}})`, "{{api_version}}"]],
    }),
    lines(
      {
        title: "Over twelve weeks",
        description:
          "The migration's shares, of a week each (recording rules, added up over jobs): the translated share of v1 rises; v1's share of all requests falls, and shows only where v2 passes through carryover.",
        unit: "percentunit",
        width: 12,
        span: "12w",
        queries: [
          [
            `sum(${SUM_7D}{${OF_JOB},api_version="v1",mode="translate"}) / sum(${SUM_7D}{${OF_JOB},api_version="v1",mode=~"native|shadow|translate"})`,
            "translated of v1",
          ],
          [
            `sum(${SUM_7D}{${OF_JOB},api_version="v1"} ${WITH_V2}) / sum(${SUM_7D}{${OF_JOB},api_version=~"v1|v2"} ${WITH_V2})`,
            "v1 of all requests",
          ],
        ],
      },
      { max: 1 },
    ),
    table(
      {
        title: "Every client, 60 days",
        description:
          "Every client that called v1 within 60 days, as the recording rule remembers it, and when it last did. One that is not on the first screen has been silent for 14 days: it has moved, or calls once a month.",
        unit: "dateTimeFromNow",
        sortBy: "Last v1 request",
        queries: [
          [
            `max by (client) (job_client:carryover_client_last_v1_request_timestamp_seconds:max{${OF_JOB},${CLIENT}}) * 1000`,
            "",
          ],
        ],
      },
      { client: "Client", Value: "Last v1 request" },
    ),
  ],
};
