/** `oxbow tools`: what the model may call, by set. */
import { join } from "node:path";
import { openRoot } from "../../tools/files/workspace-root.js";
import { environment } from "../env.js";
import { EXIT } from "../exit-codes.js";
import { helpLines, parseFlags, refuseWords } from "../flags.js";
import { loadSettings } from "../settings.js";
import { openToolbox } from "../toolbox.js";

const FLAGS = [
  { name: "tool-set", value: "SET[,SET]", repeatable: true as const, help: "only these sets" },
  { name: "json", help: "with descriptions and schemas, as JSON" },
  { name: "help", short: "h", help: "show this help" },
];

export async function run(args: readonly string[]): Promise<number> {
  const flags = parseFlags(FLAGS, args, "tools");
  if (flags.has("help")) {
    process.stdout.write(`Usage: oxbow tools [flags]\n\n${helpLines(FLAGS)}\n`);
    return EXIT.answered;
  }
  refuseWords(flags, "tools");
  const variables = environment();
  const { settings, roots } = await loadSettings(flags, variables);
  const root = await openRoot(process.cwd());
  const sets = settings.tool_sets.value;
  const toolbox = openToolbox({ root, sets, variables, outputDirectory: join(roots.state, "output") });
  const tools = toolbox.list();
  if (flags.has("json")) {
    const shown = tools.map(({ name, set, mutating, description, inputSchema }) => ({
      name,
      set,
      mutating,
      description,
      inputSchema,
    }));
    process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  } else {
    const width = Math.max(...tools.map((tool) => tool.name.length));
    for (const tool of tools) {
      const summary = tool.description.trim().split("\n")[0] ?? "";
      process.stdout.write(
        `${tool.name.padEnd(width)}  ${tool.set.padEnd(7)}  ${tool.mutating ? "asks " : "free "}  ${summary}\n`,
      );
    }
  }
  await toolbox.close();
  return EXIT.answered;
}
