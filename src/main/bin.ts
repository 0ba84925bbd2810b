/** The program's first file: answers `--version` without loading anything, then hands over to the table of commands. */
import { VERSION } from "./version.js";

const [first] = process.argv.slice(2);
if (first === "--version" || first === "-V" || first === "version") {
  process.stdout.on("error", () => process.exit(1));
  process.stdout.write(`oxbow ${VERSION}\n`);
} else {
  void run();
}

async function run(): Promise<void> {
  const { main, outputGuard } = await import("./cli.js");
  const output = outputGuard();
  const code = await main(process.argv.slice(2));
  // A tool or server that did not stop must not keep the program alive; what was written must still arrive.
  // A write that failed is told after its callback.
  process.stdout.write("", () => setImmediate(() => process.exit(output.exitCode(code))));
}
