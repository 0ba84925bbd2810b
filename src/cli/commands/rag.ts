/** `oxbow rag`. */

import { resolve } from "node:path";
import * as specs from "../../commands/catalogue/retrieval.js";
import { nodeClock } from "../../system/node-clock.js";
import { printMessage } from "../print-message.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "rag",
  specs: [
    specs.RAG_LIST,
    specs.RAG_NEW,
    specs.RAG_INGEST,
    specs.RAG_STATUS,
    specs.RAG_QUERY,
    specs.RAG_ON,
    specs.RAG_OFF,
    specs.RAG_DROP,
    specs.RAG_REEMBED,
    specs.RAG_OVERRIDE,
    specs.RAG_MIGRATE,
  ],
  about: "Keeps documents in encrypted stores on this machine, and gives the model the passages that fit your input.",
  more: `oxbow rag new docs && oxbow rag ingest docs/ --in docs && oxbow rag on docs
A store is searched by words (BM25). With --embed MODEL it is also searched by meaning; only that model gets the text.`,
  open: async (flags, variables) => {
    const [{ openRetrieval }, { retrievalCommands }] = await Promise.all([
      import("../../runtime/retrieval/open-retrieval.js"),
      import("../../runtime/commands/retrieval.js"),
    ]);
    const folder = resolve(flags.text("cwd") ?? process.cwd());
    const notify = (message: string) => printMessage(message);
    const { port, close } = await openRetrieval({ flags, variables, folder, notify, clock: nodeClock });
    return { commands: retrievalCommands(async () => port), close };
  },
};

export const run = shellRunner(shell);
