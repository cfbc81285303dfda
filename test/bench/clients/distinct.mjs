/**
 * Makes requests as very many distinct clients, one request each with its own name, token and path. Controlled over the
 * IPC channel.
 */
import { Agent, get } from "node:http";
import { answerQuestions } from "../channel.mjs";

const questions = {
  /** `count` requests, `connections` at a time, to v1 and v2 in turns. Gives how many had which status. */
  async come({ url, count, connections }) {
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    const counts = new Map();
    let next = 0;
    const one = async () => {
      while (next < count) {
        const status = await ask(url, next++, agent);
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: connections }, one));
    agent.destroy();
    return { counts: Object.fromEntries(counts) };
  },
};

function ask(url, at, agent) {
  // One request in ten has an unknown path.
  const uid = `57f9e5fa7da60166436d01ae3baf059ec752f4bb/${at.toString(16).padStart(16, "0")}`;
  const path = at % 10 === 0 ? `/iam/v1/odd-${at}/${uid}` : `/iam/${at % 2 === 0 ? "v2beta1" : "v1"}/groups/${uid}`;
  const claims = Buffer.from(JSON.stringify({ sub: `caller-${at}`, iss: "https://issuer.example" })).toString(
    "base64url",
  );
  const headers = {
    authorization: `Bearer e30.${claims}.x`,
    "user-agent": `caller-${at}/1.0`,
    "x-request-id": `r-${at}`,
  };
  return new Promise((resolve) => {
    const request = get(url + path, { agent, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode)).on("error", () => resolve("cut off"));
    });
    request.on("error", (error) => resolve(error.code ?? "failed"));
  });
}

answerQuestions(questions);
