/** Builds the program into the folder that is given, again after each change of the sources, until it is ended. (scripts/dev.mjs starts it.) */
import { context } from "esbuild";
import { bundleOptions } from "./bundle.mjs";

const builder = await context(bundleOptions(process.argv[2]));
await builder.watch();
