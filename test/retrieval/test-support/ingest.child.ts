/** Ingests into a store until it is killed. Arguments: home, folder, address of the embedding server, words of the command. */

import { shellPlace } from "../../../src/cli/subject-command.js";
import { slashLine } from "../../../src/commands/test-support/slash-line.js";
import { retrievalCommands } from "../../../src/context/retrieval/commands.js";
import { parseFlags } from "../../../src/feature/flags.js";
import { openRetrieval } from "../../../src/runtime/retrieval.js";

const [home = "", folder = "", server = "", ...words] = process.argv.slice(2);
const { port, close } = await openRetrieval(
  shellPlace(
    parseFlags([{ name: "cwd", value: "DIR", help: "" }], ["--cwd", folder], ""),
    {
      OXBOW_HOME: home,
      OLLAMA_HOST: server,
    },
    () => {},
  ),
);
const result = await slashLine(...retrievalCommands(async () => port))(words.join(" "));
process.stdout.write(result.text);
await close();
