import type { ApiResponse, ClientResponse } from "../../src/model/http.ts";

/** The answer with its body in one piece; rejects when its pieces end with an error. */
export async function gathered(answer: ClientResponse): Promise<ApiResponse> {
  const { body } = answer;
  if (body instanceof Uint8Array) return { ...answer, body };
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return { ...answer, body: Buffer.concat(pieces) };
}
