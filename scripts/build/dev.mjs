/** Builds the program into the folder that is given, again after each change of the sources, until it is ended. (scripts/dev.mjs starts it.) */
import { context } from "esbuild";
import { bundleOptions } from "./bundle.mjs";
import { buildKernel } from "./kernel.mjs";
import { buildPage } from "./page.mjs";

// Once: a change of the kernel needs a new start.
await buildKernel();
await buildPage();
const builder = await context(bundleOptions(process.argv[2]));
await builder.watch();
