/** The password and the certificates for the shared store. */
import { readFile } from "node:fs/promises";
import type { Config } from "../../config/config.ts";
import type { ConnectionOptions } from "./connection.ts";

/** Reads the files at each call, so that they can be replaced at any time. */
export function storeSecrets({
  passwordFile,
  tlsFiles,
}: Pick<Config["state"], "passwordFile" | "tlsFiles">): ConnectionOptions["secrets"] {
  const textOf = async (path: string | undefined) => (path === undefined ? undefined : await readFile(path, "utf8"));
  return async () => {
    const { caFile, certFile, keyFile } = tlsFiles;
    const [password, ca, cert, key] = await Promise.all([passwordFile, caFile, certFile, keyFile].map(textOf));
    return { password: password?.trim(), tls: { ca, cert, key } };
  };
}
