/**
 * A command as facts for a decision. Loaded by `command-reader.ts` alone.
 *
 * 1. What is not understood has no parts, and the text itself is searched for what is refused everywhere.
 * 2. A text longer than `MAX_LENGTH` or with more than `MAX_PARTS` commands or `MAX_WORDS` words counts as not understood: a decision
 *    must be quick, and a user would not read it either.
 */
import { posix } from "node:path";
import { withoutOutputs } from "../shell/credentials.js";
import { parseShell } from "../shell/grammar.js";
import { invisibleProblem } from "../shell/invisible.js";
import { type JudgedCommand, judgeScript } from "../shell/judge.js";
import { hasHarmlessSurroundings } from "../shell/judge-simple.js";
import { isSensitive } from "../shell/paths.js";
import { commandPattern, coversCommand } from "../shell/pattern-words.js";
import { CREDENTIAL_PROGRAMS, OWN_PLACES } from "../shell/programs/credentials.js";
import { WARY_GIT_PROGRAMS } from "../shell/programs/git.js";
import { NEVER_BY_PATTERN } from "../shell/programs/patterns.js";
import { isMeaningfulVariable } from "../shell/programs/variables.js";
import { VETTED_GIT_PROGRAMS } from "../shell/programs/vetted-git.js";
import type { Command, Script, SimpleCommand, Word } from "../shell/syntax.js";
import { simpleCommands, visitScript } from "../shell/walk.js";
import { fixedValue, globValue } from "../shell/word-values.js";
import { innerCommands, programName, unwrapQuietly } from "../shell/wrappers.js";
import { commandPaths, type Whereabouts, writtenFiles } from "./command-paths.js";
import type { CommandReaderOptions } from "./command-reader.js";
import { deletedPaths } from "./contained/deleted-paths.js";
import { type Deletion, judgeDeletions } from "./contained/deletions.js";
import { namedSecret } from "./contained/named-secret.js";
import { lossOf } from "./contained/needs.js";
import type { CommandFacts, CommandPart, Words } from "./facts.js";
import { gitProblem } from "./git-problem.js";
import { linkProblem } from "./link-problem.js";
import { listedProblem } from "./listed-names.js";
import type { TrackedFiles, TrackedSecrets } from "./tracked-files.js";
import { shownProblem, treeProblem } from "./tree-problem.js";

const MAX_LENGTH = 32_768;
const MAX_PARTS = 200;
const MAX_WORDS = 1000;
const MAX_DEPTH = 3;

export function readCommand(text: string, options: CommandReaderOptions): CommandFacts {
  if (text.length > MAX_LENGTH) return notUnderstood(text, `It is longer than ${MAX_LENGTH} characters.`, options);
  const invisible = invisibleProblem(text);
  if (invisible !== undefined) return notUnderstood(text, invisible, options);
  const parsed = parseShell(text);
  if (!parsed.ok) return notUnderstood(text, `Oxbow cannot parse the command: ${parsed.reason}.`, options);
  const { script } = parsed;
  const commands = simpleCommands(script).map(({ command }) => command);
  if (commands.length > MAX_PARTS) return notUnderstood(text, `It has more than ${MAX_PARTS} commands.`, options);
  const words = commands.reduce((sum, command) => sum + command.words.length, 0);
  if (words > MAX_WORDS) return notUnderstood(text, `It has more than ${MAX_WORDS} words.`, options);
  const { workspace, cwd, ownFolders } = options;
  const isQuiet = /\bgit\b/.test(text) ? options.isQuietRepository?.() : undefined;
  const judged = judgeScript(script, {
    workspace,
    ...(cwd && { cwd }),
    ...(ownFolders && { ownFolders }),
    outputs: options.outputs,
    ...(isQuiet !== undefined && { programs: isQuiet ? VETTED_GIT_PROGRAMS : WARY_GIT_PROGRAMS }),
  });
  const place: Whereabouts = { workspace, home: options.home, folders: [cwd ?? workspace] };
  const listed = options.trees && listedProblem(script, place, options.trees);
  const handedOn = handedOnCommands(script);
  const deletions: Deletion[] = [];
  let standing: string | undefined = judged.plain ? place.folders[0] : undefined;
  const parts = commands.map((command, index) => {
    const found = judged.commands[index];
    const problem =
      diskProblem(command, { from: commands[index - 1], place, options }, found?.verdict) ??
      shownByGit(command, { secrets: options.trackedSecrets, isHandedOn: handedOn.has(command) }) ??
      (listed?.command === command && (listed.byDotGlobs || found?.verdict !== "read-only")
        ? listed.problem
        : undefined);
    const wasQuiet = found?.verdict === "read-only" && problem !== undefined;
    const judgedPart = wasQuiet ? { ...found, verdict: "ask" as const, reason: problem } : found;
    const part = readPart(command, judgedPart, place);
    standing &&= folderAfter(command, standing);
    deletions.push(...deletedBy(command, standing === undefined ? place : { ...place, folders: [standing] }));
    return problem === undefined ? part : { ...part, exposes: problem };
  });
  const { plain } = judged;
  const asking = judged.verdict === "read-only" ? parts.find(({ verdict }) => verdict !== "read-only") : undefined;
  const { verdict, reason } = asking ?? judged;
  const secret = secretIn(text, { commands, folders: place.folders, options });
  const deletes = deletedMuch(deletions, options.trackedFiles);
  return {
    ...{ text, verdict, reason, parts, plain, joined: isJoined(script) },
    ...(secret !== undefined && { secret }),
    ...(deletes !== undefined && { deletes }),
  };
}

/** Finds where the next command of a plain list starts; undefined if the words do not say it. */
function folderAfter({ words }: SimpleCommand, folder: string): string | undefined {
  const name = programName(words);
  if (name !== "cd" && name !== "pushd" && name !== "popd") return folder;
  const [, to] = words.map(fixedValue);
  return to === undefined || words.length !== 2 || /^[-~]/.test(to) ? undefined : posix.resolve(folder, to);
}

function deletedBy(command: SimpleCommand, place: Whereabouts): readonly Deletion[] {
  const all = [command, ...nestedCommands(command.words, 0).known];
  return all.flatMap(({ words }) => deletedPaths(words, place));
}

function deletedMuch(deletions: readonly Deletion[], tracked: TrackedFiles | undefined): string | undefined {
  if (deletions.length === 0 || tracked === undefined) return undefined;
  const { decision, reason } = judgeDeletions(deletions, tracked(deletions.map(({ path }) => path)));
  return decision === "ask" ? reason : undefined;
}

function secretIn(
  text: string,
  {
    commands,
    folders,
    options: { trees },
  }: {
    readonly commands: readonly SimpleCommand[];
    readonly folders: readonly string[];
    readonly options: CommandReaderOptions;
  },
): string | undefined {
  const isFile = trees && ((path: string) => folders.some((each) => trees.kind(posix.resolve(each, path)) === "file"));
  return namedSecret({ text, commands, isFile });
}

/** Facts from the disk: targets of links, and contents of folders. */
function diskProblem(
  command: SimpleCommand,
  {
    from,
    place,
    options,
  }: { readonly from: SimpleCommand | undefined; readonly place: Whereabouts; readonly options: CommandReaderOptions },
  verdict: JudgedCommand["verdict"] | undefined,
): string | undefined {
  const { links, trees } = options;
  if (verdict !== "read-only") return trees && shownProblem(command, place, trees);
  return (links && linkProblem(command, place, links)) ?? (trees && treeProblem({ command, from, place }, trees));
}

/** Also by a command in a text for a shell. */
function shownByGit(
  command: SimpleCommand,
  { secrets, isHandedOn }: { readonly secrets: TrackedSecrets | undefined; readonly isHandedOn: boolean },
): string | undefined {
  if (secrets === undefined) return undefined;
  const nested = nestedCommands(command.words, 0).known.map((each) => ({ command: each, isHandedOn: true }));
  for (const call of [{ command, isHandedOn }, ...nested]) {
    const problem = gitProblem(call, secrets);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Programs that pass on the beginning of what they get, so the header of a patch stays. */
const KEEPS_BEGINNING = new Set("head cat less more".split(" "));

/** The commands whose output another program or a file gets, or that stand in a group or a substitution. */
function handedOnCommands(script: Script): ReadonlySet<SimpleCommand> {
  const found = new Set<SimpleCommand>();
  visitScript(script, [], {
    simple(command, place) {
      const writes = command.redirects.some(
        ({ operator, descriptor, target }) =>
          operator.includes(">") && descriptor !== "2" && fixedValue(target) !== "/dev/null",
      );
      if (writes || place.some((each) => each !== "pipeline")) found.add(command);
    },
    command(command) {
      if (command.type !== "pipeline") return;
      const last = command.commands.findLastIndex(
        (each) => each.type !== "simple" || !KEEPS_BEGINNING.has(programName(each.words) ?? ""),
      );
      for (const each of command.commands.slice(0, Math.max(0, last))) if (each.type === "simple") found.add(each);
    },
  });
  return found;
}

function notUnderstood(text: string, reason: string, options: CommandReaderOptions): CommandFacts {
  const { outputs, ownFolders = [] } = options;
  const refused = refusedMention(withoutOutputs(text, outputs), ownFolders);
  const verdict = refused === undefined ? "ask" : "blocked";
  const secret = secretIn(text, { commands: [], folders: [options.cwd ?? options.workspace], options });
  return {
    ...{ text, verdict, reason: refused ? `${reason} ${refused}` : reason, parts: [], plain: false, joined: false },
    ...(secret !== undefined && { secret }),
  };
}

/** Only names that mean one thing: `pass` and `security` are also words. */
const TELLING_PROGRAM = new RegExp(
  `(?<![\\w-])(?:${CREDENTIAL_PROGRAMS.filter((name) => name.includes("-"))
    .map((name) => name.replace("*", "\\w+"))
    .join("|")}|keyctl|kwalletcli|mimikatz|security\\s+(?:find|dump|export)-\\w+)(?![\\w-])`,
);

function refusedMention(text: string, ownFolders: readonly string[]): string | undefined {
  const program = TELLING_PROGRAM.exec(text)?.[0];
  if (program !== undefined) return `It names "${program}", which shows credentials.`;
  const own = OWN_PLACES.some((place) => place.test(text)) || ownFolders.some((folder) => text.includes(folder));
  return own ? "It names Oxbow's own files." : undefined;
}

function readPart(command: SimpleCommand, judged: JudgedCommand | undefined, place: Whereabouts): CommandPart {
  const { text, words } = command;
  const refused = refusedOption(words);
  const nested = nestedCommands(words, 0);
  const access = judged?.verdict === "read-only" ? "read" : undefined;
  const readings = readingsOf(words, nested);
  const coverage = coverageOf(command);
  const loses = readings.some((reading) => lossOf(reading) !== undefined);
  return {
    text,
    verdict: judged?.verdict ?? "ask",
    reason: judged?.reason ?? "It was not judged.",
    words: words.map(fixedValue),
    readings,
    programs: programsOf(words),
    variables: command.assignments.map(({ name }) => name).filter(isMeaningfulVariable),
    writes: writtenFiles(command),
    coverage: loses && coverage === "pattern" ? "rule" : coverage,
    ...(refused !== undefined && { refusedOption: refused }),
    ...(judged?.pattern !== undefined && { pattern: judged.pattern }),
    paths: [command, ...nested.known].flatMap((each) => commandPaths(each, { place, access })),
  };
}

function readingsOf(words: readonly Word[], { known, complete }: Nested): readonly Words[] {
  const all = [words, ...known.map((inner) => inner.words)];
  const readings = [...all, ...all.flatMap((each) => innerCommands(each).commands)].map((each) => each.map(fixedValue));
  // Called by its path or in other letters, a program is the same program.
  const byName = readings.flatMap((reading): Words[] => {
    const [program, ...rest] = reading;
    const name = program?.slice(program.lastIndexOf("/") + 1).toLowerCase();
    return name === program ? [] : [[name, ...rest]];
  });
  // A text for a shell that is not known may run anything.
  return [...readings, ...byName, ...(complete ? [] : [[undefined]])];
}

interface Nested {
  readonly known: readonly SimpleCommand[];
  /** False when a text for a shell is not known beforehand, or nested too deep. */
  readonly complete: boolean;
}

/** The commands in texts that are handed to a shell: `bash -c "…"`, `eval …`. */
function nestedCommands(words: readonly Word[], depth: number): Nested {
  const { scripts } = innerCommands(words);
  if (scripts.length === 0) return { known: [], complete: true };
  if (depth >= MAX_DEPTH) return { known: [], complete: false };
  const direct = scripts.flatMap((script) => (script === undefined ? [] : simpleCommands(script)));
  const deeper = direct.map(({ command }) => nestedCommands(command.words, depth + 1));
  return {
    known: [...direct.map(({ command }) => command), ...deeper.flatMap(({ known }) => known)],
    complete: !scripts.includes(undefined) && deeper.every(({ complete }) => complete),
  };
}

function programsOf(words: readonly Word[]): readonly (string | undefined)[] {
  if (words.length === 0) return [];
  const inner = unwrapQuietly(words);
  if (typeof inner === "string") return [programName(words), undefined];
  return inner === words ? [programName(words)] : [programName(words), programName(inner)];
}

function coverageOf(command: SimpleCommand): CommandPart["coverage"] {
  const [first, ...rest] = command.words;
  const program = first === undefined ? undefined : fixedValue(first);
  if (first === undefined || program === undefined || /\s/.test(program)) return "none";
  if (coversCommand(`${program} *`, command) || commandPattern(command) !== undefined) return "pattern";
  if (!hasHarmlessSurroundings(command)) return "none";
  const values = rest.map(globValue);
  if (values.includes(undefined) || refusedOption(command.words) !== undefined) return "none";
  return values.some((value) => value !== undefined && isSensitive(value)) ? "exact" : "rule";
}

/**
 * The first option by which a program, trusted or not, runs another one or writes: `-exec` of find. The tables of the shell
 * judge know them; each word is tried by itself behind the program's name.
 */
function refusedOption(words: readonly Word[]): string | undefined {
  const [first, ...rest] = words;
  const program = first === undefined ? undefined : fixedValue(first);
  if (first === undefined || program === undefined || /\s/.test(program) || NEVER_BY_PATTERN.has(program)) return;
  const covers = (tried: readonly Word[]) =>
    coversCommand(`${program} *`, { type: "simple", assignments: [], redirects: [], words: tried, text: "" });
  return rest.find((word) => {
    const value = globValue(word);
    return value?.startsWith("-") && !isSensitive(value) && !covers([first, word]);
  })?.text;
}

/** No loops, functions or conditions, and no redirect around a group. */
function isJoined(script: Script): boolean {
  let joined = true;
  const check = (command: Exclude<Command, SimpleCommand>) => {
    if (command.type === "pipeline") return;
    if ((command.kind !== "group" && command.kind !== "subshell") || command.redirects.length > 0) joined = false;
  };
  visitScript(script, [], { command: check });
  return joined;
}
