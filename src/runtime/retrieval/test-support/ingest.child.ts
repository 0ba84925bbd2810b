/** Ingests into a store until it is killed. Arguments: home, folder, address of the embedding server, words of the command. */
import { parseFlags } from "../../../commands/flags.js";
import { slashLine } from "../../../commands/test-support/slash-line.js";
import { nodeClock } from "../../../system/node-clock.js";
import { retrievalCommands } from "../../commands/retrieval.js";
import { openRetrieval } from "../open-retrieval.js";

const [home = "", folder = "", server = "", ...words] = process.argv.slice(2);
const { port, close } = await openRetrieval({
  flags: parseFlags([], [], ""),
  variables: { OXBOW_HOME: home, OLLAMA_HOST: server },
  folder,
  notify: () => {},
  clock: nodeClock,
});
const result = await slashLine(...retrievalCommands(async () => port))(words.join(" "));
process.stdout.write(result.text);
await close();
