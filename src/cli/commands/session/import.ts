import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { safeLine } from "../../../base/terminal-text.js";
import { ago, renderTable } from "../../../base/text-table.js";
import { createIdSource } from "../../../base/ulid.js";
import { UsageError } from "../../../base/usage-error.js";
import type { ParsedFlags } from "../../../commands/flags.js";
import { type ForeignSessionFile, findForeignSessions } from "../../../sessions/transfer/discover.js";
import { importTranscript } from "../../../sessions/transfer/import.js";
import { linesOf } from "../../../sessions/transfer/lines.js";
import { unpackedFile } from "../../../sessions/transfer/unpack.js";
import { EXIT } from "../../exit-codes.js";
import { copySession } from "./copy-session.js";
import { loadRedact } from "./load-redact.js";
import type { OpenSessions } from "./open-sessions.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [
    { name: "list", short: "l", help: "show the Claude Code and Codex transcripts on this machine" },
    { name: "here", help: "make it a session of this folder, whatever the transcript says" },
  ],
  async run(flags, sessions) {
    if (flags.has("list")) return listTranscripts(flags, sessions);
    if (flags.words.length === 0) {
      throw new UsageError("Which file? 'oxbow session import --list' shows the transcripts of Claude Code and Codex.");
    }
    const imported: Imported[] = [];
    for (const word of flags.words) imported.push(await importFile(resolve(word), flags, sessions));
    sessions.print(flags, imported, () => imported.map(line).join("\n"));
    return EXIT.answered;
  },
};

interface Imported {
  readonly id: string;
  readonly file: string;
  readonly kind: string;
  readonly events: number;
  readonly notes: readonly string[];
}

async function importFile(file: string, flags: ParsedFlags, sessions: OpenSessions): Promise<Imported> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`${file} is not a file that can be read.`);
  const { clock, folder, variables } = sessions;
  const ids = createIdSource({ wall: () => clock.wall(), random: (bytes) => crypto.getRandomValues(bytes) });
  const bytes = unpackedFile(file, { path: variables.PATH, avoid: folder });
  const { kind, record, events, notes } = await importTranscript(linesOf(bytes), {
    session: ids.next("sess"),
    log: ids.next("log"),
    client: ids.next("cli"),
    redact: await loadRedact(),
    startedAt: found.mtime.toISOString(),
    ...(flags.has("here") && { cwd: folder }),
  });
  const session = { ...record, cwd: record.cwd === "" ? folder : record.cwd };
  const count = await copySession(sessions, { session, events });
  return { id: record.id, file, kind, events: count, notes };
}

function line({ id, file, kind, events, notes }: Imported): string {
  const told = notes.map((note) => `\n  ${safeLine(note)}`).join("");
  return `${id}: ${events} events from ${file} (${kind}).${told}`;
}

async function listTranscripts(
  flags: ParsedFlags,
  { variables, clock, print, terminal }: OpenSessions,
): Promise<number> {
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
  const look = { width: terminal.out.isTerminal ? process.stdout.columns : undefined, color: terminal.color };
  print(flags, files, () =>
    files.length === 0 ? "No transcripts of Claude Code or Codex were found." : renderTable(columns, files, look),
  );
  return EXIT.answered;
}
