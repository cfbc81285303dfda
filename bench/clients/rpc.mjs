/** Calls a gRPC method as fast as it is answered, over several connections with several calls at a time each; over the IPC channel. */
import { connect } from "node:http2";
import { answerQuestions } from "../channel.mjs";

answerQuestions({ fire });

/** `message`: in base64, with its prefix. Gives `requests`, `failed` (other than OK), `perSecond` and the last `answer` in base64. */
async function fire({ url, path, token, message, connections, calls, seconds }) {
  const bytes = Buffer.from(message, "base64");
  const headers = {
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Bearer ${token}`,
  };
  const sum = { requests: 0, failed: 0, answer: "" };
  const sessions = await Promise.all(Array.from({ length: connections }, () => opened(url)));
  const begin = performance.now();
  const end = begin + seconds * 1000;
  const loop = async (session) => {
    while (performance.now() < end) {
      const { code, answer } = await call(session, headers, bytes);
      sum.requests++;
      if (code !== "0") sum.failed++;
      sum.answer = answer;
    }
  };
  await Promise.all(sessions.flatMap((session) => Array.from({ length: calls }, () => loop(session))));
  const took = (performance.now() - begin) / 1000;
  for (const session of sessions) session.close();
  return { ...sum, answer: sum.answer.toString("base64"), perSecond: sum.requests / took };
}

function opened(url) {
  return new Promise((resolve, reject) => {
    const session = connect(url);
    session.once("connect", () => resolve(session));
    session.on("error", reject);
  });
}

function call(session, headers, bytes) {
  return new Promise((resolve) => {
    const stream = session.request(headers);
    const pieces = [];
    let code;
    const look = (fields) => {
      code = fields["grpc-status"] ?? code;
    };
    stream.on("response", look);
    stream.on("trailers", look);
    stream.on("data", (piece) => pieces.push(piece));
    stream.on("error", () => {});
    stream.on("close", () => resolve({ code, answer: Buffer.concat(pieces) }));
    stream.end(bytes);
  });
}
