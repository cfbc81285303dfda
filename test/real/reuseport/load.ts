/** Clients that call without a pause and never repeat a call: HTTP with and without keep-alive, and gRPC. Each has connections of its own. */
import { Agent, request } from "node:http";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";

/** The calls of one kind of client. */
export interface Tally {
  answers: number;
  /** Calls whose new connection was reset before it was accepted: no server has seen them. */
  unaccepted: number;
  /** The error of each call that failed, with the milliseconds since the load began. */
  readonly failures: string[];
}

export interface Load {
  readonly keepAlive: Tally;
  /** Clients that open a connection for each request. */
  readonly shortLived: Tally;
  readonly grpc: Tally;
  /** Resolves once the calls in progress have ended. */
  stop(): Promise<void>;
}

const PATH = "/iam/v2beta1/groups";
const RPC = "/acme.platform.iam.v2beta1.GroupsService/ListGroups";
/** A call that takes longer has been lost. */
const DEADLINE_MS = 10_000;

/** `clients`: the number of clients of each kind. */
export function startLoad({ url, grpcUrl }: { readonly url: string; readonly grpcUrl: string }, clients: number): Load {
  const begun = performance.now();
  const tally = (): Tally => ({ answers: 0, unaccepted: 0, failures: [] });
  const load = { keepAlive: tally(), shortLived: tally(), grpc: tally() };
  let isOver = false;
  const call = async (seen: Tally, once: () => Promise<void>): Promise<void> => {
    while (!isOver) {
      try {
        await once();
        seen.answers++;
      } catch (error) {
        const { code, message } = error as { code?: string | number; message: string };
        if (error instanceof Unaccepted || message.includes("No connection established")) seen.unaccepted++;
        else seen.failures.push(`${Math.round(performance.now() - begun)} ms: ${code ?? ""} ${message}`);
      }
    }
  };
  const running = Array.from({ length: clients }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const channel = new Client(grpcUrl.replace("http://", ""), credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    await Promise.all([
      call(load.keepAlive, () => get(url, agent)),
      call(load.shortLived, () => get(url, false)),
      call(load.grpc, () => unary(channel)),
    ]);
    agent.destroy();
    channel.close();
  });
  return {
    ...load,
    stop: async () => {
      isOver = true;
      await Promise.all(running);
    },
  };
}

class Unaccepted extends Error {}

function get(url: string, agent: Agent | false): Promise<void> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const sent = request(url + PATH, { agent, signal }, (response) => {
      response.once("error", reject).resume();
      response.once("end", () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`status ${response.statusCode}`));
      });
    });
    sent.once("error", (error: NodeJS.ErrnoException) => {
      reject(error.code === "ECONNRESET" && !sent.reusedSocket ? new Unaccepted(error.message) : error);
    });
    sent.end();
  });
}

const same = (bytes: Buffer): Buffer => bytes;

function unary(channel: Client): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + DEADLINE_MS };
    const ended = (error: ServiceError | null) => (error === null ? resolve() : reject(error));
    channel.makeUnaryRequest(RPC, same, same, Buffer.alloc(0), options, ended);
  });
}
