// Every command in this folder starts here. This file and those that import it keep to syntax that an old Node can
// parse (no top-level await, no `?.`, no `??`), because a parse error would hide the sentence about the version.

const MINIMUM = [20, 19];

/** A failure with a message for the user, shown without a stack trace. */
export class ToolError extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The message if Node is too old; otherwise undefined. */
export function nodeComplaint(version) {
  const [major, minor] = version.split(".").map(Number);
  if (major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])) return undefined;
  return (
    `Node.js ${MINIMUM.join(".")} or newer is needed, and this is ${version} (${process.execPath}). ` +
    "Install a newer one (nodejs.org, or a version manager such as nvm or fnm) and run the same command again."
  );
}

/** Writes to stderr, because stdout belongs to the program. */
export function say(text) {
  process.stderr.write(`oxbow: ${text}\n`);
}

/** Runs the `main(args)` of the module that `load` imports, with failures as one line on stderr and an exit code. */
export function run(load) {
  const complaint = nodeComplaint(process.versions.node);
  if (complaint !== undefined) {
    say(complaint);
    process.exit(2);
  }
  load()
    .then((tool) => tool.main(process.argv.slice(2)))
    .catch((error) => {
      const known = error instanceof ToolError;
      if (known) say(error.message);
      else process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
      process.exitCode = known ? error.exitCode : 1;
    });
}
