import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { safeLine } from "../../../base/terminal-text.js";
import { ago, renderTable } from "../../../base/text-table.js";
import { createIdSource } from "../../../base/ulid.js";
import { UsageError } from "../../../base/usage-error.js";
import { asValue, type CommandContext, type CommandResult } from "../../../feature/command.js";
import { type ForeignSessionFile, findForeignSessions } from "../../../sessions/transfer/discover.js";
import { importTranscript } from "../../../sessions/transfer/import.js";
import { linesOf } from "../../../sessions/transfer/lines.js";
import { unpackedFile } from "../../../sessions/transfer/unpack.js";
import { loadRedactor } from "../../sessions/load-redactor.js";
import { copySession } from "./copy-session.js";
import type { OpenPort, SessionAction } from "./port.js";

export const importFiles: SessionAction = async (args, port, context) => {
  if (args.hasFlag("list")) return listTranscripts(port, context);
  const files = args.list("FILE");
  if (files.length === 0) {
    throw new UsageError("Which file? 'oxbow session import --list' shows the transcripts of Claude Code and Codex.");
  }
  if (args.hasFlag("here") && args.hasFlag("there")) throw new UsageError("Use --here or --there, not both.");
  const wanted = args.hasFlag("here") ? "here" : args.hasFlag("there") ? "there" : "ask";
  const imported: Imported[] = [];
  for (const file of files) imported.push(await importFile(resolve(port.base, file), port, { wanted, context }));
  return { text: imported.map(line).join("\n"), value: asValue(imported) };
};

/** Describes which folder an imported session belongs to. */
interface Choice {
  readonly wanted: "here" | "there" | "ask";
  readonly context: CommandContext;
}

interface Imported {
  readonly id: string;
  readonly file: string;
  readonly kind: string;
  readonly folder: string;
  readonly events: number;
  readonly notes: readonly string[];
}

async function importFile(
  file: string,
  { clock, folder, variables, store }: OpenPort,
  { wanted, context }: Choice,
): Promise<Imported> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`${file} is not a file that Oxbow can read.`);
  const ids = createIdSource({ wall: () => clock.wall(), random: (bytes) => crypto.getRandomValues(bytes) });
  const bytes = unpackedFile(file, { path: variables.PATH, avoid: folder });
  const { kind, record, events, notes } = await importTranscript(linesOf(bytes), {
    session: ids.next("sess"),
    log: ids.next("log"),
    client: ids.next("cli"),
    redactor: await loadRedactor(),
    startedAt: found.mtime.toISOString(),
    ...(wanted === "here" && { cwd: folder }),
  });
  const cwd = await folderFor(record.cwd, { here: folder, wanted, context });
  const count = await copySession(store, { session: { ...record, cwd }, events, progress: context.progress });
  const isMoved = wanted === "ask" && record.cwd !== "" && cwd !== record.cwd;
  const moved = `The file names the folder ${record.cwd}. The session belongs to this folder; --there keeps the other one.`;
  return { id: record.id, file, kind, folder: cwd, events: count, notes: isMoved ? [...notes, moved] : notes };
}

/**
 * A resumed session works in its folder, and its instructions and tools come from there. A file from elsewhere could name any folder, so
 * only the user chooses another folder than this one.
 */
async function folderFor(
  named: string,
  { here, wanted, context }: Choice & { readonly here: string },
): Promise<string> {
  if (named === "" || named === here || wanted === "here") return here;
  if (wanted === "there") return named;
  const question = `The file names the folder ${safeLine(named)}. Should the session work there when you resume it?`;
  return (await context.confirm?.(question)) === true ? named : here;
}

function line({ id, file, kind, events, notes }: Imported): string {
  const shown = notes.map((note) => `\n  ${safeLine(note)}`).join("");
  return `${id}: ${events} events from ${file} (${kind}).${shown}`;
}

async function listTranscripts({ variables, clock }: OpenPort, { screen }: CommandContext): Promise<CommandResult> {
  const files = await findForeignSessions({
    home: variables.HOME ?? "",
    ...(variables.CLAUDE_CONFIG_DIR && { claudeFolder: variables.CLAUDE_CONFIG_DIR }),
    ...(variables.CODEX_HOME && { codexFolder: variables.CODEX_HOME }),
  });
  const columns = [
    { header: "FILE", value: ({ path }: ForeignSessionFile) => path, priority: 9, minWidth: 24 },
    { header: "FROM", value: ({ kind }: ForeignSessionFile) => kind, priority: 7 },
    {
      header: "ACTIVE",
      value: ({ active }: ForeignSessionFile) => ago(clock.wall() - Date.parse(active)),
      priority: 6,
    },
    { header: "TITLE", value: ({ title }: ForeignSessionFile) => title, priority: 8, minWidth: 12 },
    { header: "FOLDER", value: ({ cwd }: ForeignSessionFile) => cwd, priority: 3 },
  ];
  const look = { width: screen?.width, color: screen?.color ?? false };
  const none = "No transcripts of Claude Code or Codex were found.";
  return { text: files.length === 0 ? none : renderTable(columns, files, look), value: asValue(files) };
}
