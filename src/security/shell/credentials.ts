/** Commands that show credentials or touch Oxbow's own files, found also behind programs that run others. */
import { posix } from "node:path";
import { LONGEST_PATH } from "./paths.js";
import { CREDENTIAL_COMMANDS, CREDENTIAL_PROGRAMS, OWN_COMMANDS, OWN_PLACES } from "./programs/credentials.js";
import type { Script, SimpleCommand, Word } from "./syntax.js";
import { simpleCommands } from "./walk.js";
import { fixedValue, globValue } from "./word-values.js";
import { innerCommands, programName } from "./wrappers.js";

const MAX_DEPTH = 3;

export interface OwnPlaces {
  /** Oxbow's own folders, absolute. */
  readonly folders: readonly string[];
  /** A folder in them whose files the model may use. */
  readonly except?: string | undefined;
}

/** Tells why a command is refused; undefined when it is not. */
export function credentialProblem(command: SimpleCommand, own: OwnPlaces, depth = 0): string | undefined {
  const words = [
    ...command.words,
    ...command.redirects.map(({ target }) => target),
    ...command.assignments.flatMap(({ words: values }) => values),
  ];
  const place = words.find((word) => isOwnPlace(word, own));
  if (place !== undefined) return `"${place.text}" is among Oxbow's own configuration, credentials and sessions.`;
  const direct = commandProblem(command.words);
  if (direct !== undefined || depth >= MAX_DEPTH) return direct;
  const { commands, scripts } = innerCommands(command.words);
  const inner = commands.map(commandProblem).find((problem) => problem !== undefined);
  if (inner !== undefined) return inner;
  const nested = scripts.filter((script): script is Script => script !== undefined).flatMap(simpleCommands);
  return nested
    .map((found) => credentialProblem(found.command, own, depth + 1))
    .find((problem) => problem !== undefined);
}

function commandProblem(words: readonly Word[]): string | undefined {
  const name = programName(words)?.split("/").at(-1);
  if (name === undefined) return undefined;
  const refused = CREDENTIAL_PROGRAMS.some((program) =>
    program.endsWith("*") ? name.startsWith(program.slice(0, -1)) : name === program,
  );
  if (refused) return `"${name}" shows credentials.`;
  const own = ownCommandProblem(words);
  if (own !== undefined) return own;
  const sequences = Object.hasOwn(CREDENTIAL_COMMANDS, name) ? (CREDENTIAL_COMMANDS[name] ?? []) : [];
  if (sequences.length === 0) return undefined;
  const values = words.slice(1).map((word) => fixedValue(word) ?? "");
  const found = sequences.find((sequence) => follows(values, sequence));
  return found === undefined ? undefined : `"${name} ${found.join(" ")}" shows credentials.`;
}

/** By name, by version (`npx oxbow@1`) or by its file. */
const OWN_PROGRAM = /(^|[/@])ox(bow)?(@[^/]*)?$|(^|\/)dist\/(\w+\/)*bin\.[cm]?js$|oxbow.*\/bin\.[cm]?js$/i;

/** Also started by its file: `node …/oxbow/dist/bin.js permissions reset`. */
function ownCommandProblem(words: readonly Word[]): string | undefined {
  const values = words.map((word) => fixedValue(word) ?? "");
  const at = values.findIndex((value) => OWN_PROGRAM.test(value));
  const name = values[0]?.split("/").at(-1) ?? "";
  if (at !== 0 && !(at > 0 && /^(node|nodejs|bun|deno|tsx|npx|pnpx|bunx|npm|pnpm|yarn)$/.test(name))) return undefined;
  const [command, ...rest] = values.slice(at + 1);
  const found = OWN_COMMANDS.find(([first = "", ...verbs]) =>
    first.startsWith("--")
      ? follows([command ?? "", ...rest], [first, ...verbs])
      : first === command &&
        follows(
          rest.flatMap((value) => value.split(/\s+/)),
          verbs,
        ),
  );
  return found === undefined ? undefined : `"oxbow ${found.join(" ")}" is for people, not for agents.`;
}

/** Tells whether the words of the sequence appear in their order. */
function follows(values: readonly string[], sequence: readonly string[]): boolean {
  let next = 0;
  for (const value of values) {
    const wanted = sequence[next];
    if (wanted !== undefined && (value === wanted || value.startsWith(`${wanted}=`))) next += 1;
  }
  return next === sequence.length;
}

function isOwnPlace(word: Word, { folders, except }: OwnPlaces): boolean {
  if (folders.length === 0 && !/oxbow/i.test(word.text)) return false;
  const text = skeleton(word);
  const plain = text.length > LONGEST_PATH ? text : posix.normalize(text);
  if (except !== undefined && plain.startsWith(`${except}/`) && globValue(word) !== undefined) return false;
  const path = withoutOutputs(plain, except);
  return OWN_PLACES.some((place) => place.test(path)) || folders.some((folder) => `${path}/`.includes(`${folder}/`));
}

/** A text without the names of outputs of commands. What is left may still name one of Oxbow's own files. */
export function withoutOutputs(text: string, outputs: string | undefined): string {
  if (outputs === undefined) return text;
  return text
    .split(`${outputs}/`)
    .map((rest, index) =>
      index === 0 ? rest : OUTPUT_NAME.test(rest) ? rest.replace(OUTPUT_NAME, "") : `${outputs}/${rest}`,
    )
    .join("");
}

const OUTPUT_NAME = /^[\w-]+\.log\b(?!\/)/;

/** The word with names for what is not known: `$HOME/.config`, `~/.config`. */
function skeleton(word: Word): string {
  return word.parts
    .map((part) => {
      if (part.type === "literal" || part.type === "glob" || part.type === "brace") return part.value;
      if (part.type === "tilde") return "~";
      return part.type === "parameter" ? `$${part.name}` : "*";
    })
    .join("");
}
