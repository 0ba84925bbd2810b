/** Questions that one lookup answers. `facts.txt` lists the file of each answer, `phrases/facts.txt` the questions. */
import { grepCall } from "../calls.js";
import { declaredIn, sourcesOf } from "../declared.js";
import { findHowTo, howToFiles, scriptName } from "../ecosystems.js";
import { namedPath, readText } from "../files.js";
import { phraseIntent } from "../intent.js";
import { parseMatches } from "../outputs/search-output.js";
import phrases from "../phrases/facts.txt";
import { call, type Plan, type Toolbox } from "../plan.js";
import { readProject } from "../project-files.js";
import type { Row } from "../rows.js";
import { bulleted, code, count, enumerate, fenced, numbers, paragraphs, tally } from "../wording.js";
import { askGit, gitFailed } from "./git.js";
import { firstParagraph } from "./project.js";

interface FactSlots {
  readonly question: string;
  /** Of `howto`: test, build, install … Of `version`: the language. Of `readme`: a document by its path. */
  readonly subject?: string;
}

const MOST_LINES = 60;

function* planFact({ question, subject = "" }: FactSlots, tools: Toolbox): Plan {
  if (question === "howto") return yield* planHowTo(subject);
  if (question === "readme") return yield* planDocument(subject);
  const asked = question === "version" ? subject : question;
  const [first = []] = sourcesOf(asked);
  if (first[1] === "log") return yield* planHistory(first, tools);
  if (first[1] === "lines" || first[1] === "names") return yield* planSearch(first);
  const what = question === "version" ? `the version of ${subject}` : `what this project's ${question} is`;
  return yield* planDeclared(asked, what);
}

function* planSearch([, kind, pattern = "", label = "", none = ""]: Row): Plan {
  const matches = parseMatches((yield* call(grepCall(pattern, {}, { mode: "content", limit: 500 }))).text);
  const lines = matches.files.flatMap(({ path, lines: found }) => found.map((line) => ({ path, ...line })));
  if (lines.length === 0) return none;
  const cut = matches.cut === undefined ? "" : "at least ";
  if (kind === "lines") {
    const places = lines.map(({ path, line, text }) => `${path}:${line}: ${text.trim()}`);
    return paragraphs(`${label}: ${cut}${lines.length}.`, bulleted(places, MOST_LINES));
  }
  const places = new Map<string, Set<string>>();
  for (const { path, text } of lines) {
    for (const match of text.matchAll(new RegExp(pattern, "g"))) {
      const name = match.slice(1).find((group) => group !== undefined) ?? match[0];
      places.set(name, (places.get(name) ?? new Set()).add(path));
    }
  }
  const rows = [...places].sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = rows.map(([name, paths]) => `${code(name)} (${[...paths].slice(0, 3).join(", ")})`);
  return paragraphs(`${label}: ${cut}${rows.length}.`, bulleted(shown, MOST_LINES));
}

function* planHistory([, , args = "", manner, words = ""]: Row, tools: Toolbox): Plan {
  const options = args.split(" ").map((word) => word.replaceAll("_", " "));
  const answer = yield* askGit(tools, "log", options);
  if (answer.failed) return gitFailed("log", answer);
  const lines = answer.text.split("\n").filter((line) => line !== "" && !line.startsWith("[… "));
  if (lines.length === 0) return "There are no commits.";
  const cut = /^\[… /m.test(answer.text) ? "The history is longer than one listing shows." : undefined;
  if (manner === "counted") return paragraphs(`${count(lines.length, words)}.`, cut);
  if (manner === "shown") return paragraphs(words, fenced(lines.join("\n")), cut);
  if (manner === "listed") return paragraphs(words, bulleted([...new Set(lines)], 40), cut);
  const rows = tally(lines);
  const [what = "", unit = ""] = words.split(" ");
  return paragraphs(`${count(rows.length, what)}, by number of ${unit}s:`, numbers(rows, 30), cut);
}

function* planDeclared(question: string, what: string): Plan {
  const sources = [...new Set(sourcesOf(question).map(([, , file = ""]) => file))];
  const isThere = (names: readonly string[]) => sources.filter((file) => names.includes(file)).slice(0, 10);
  const { names, texts } = yield* readProject(isThere);
  const files = isThere(names);
  if (files.length === 0)
    return `I did not find ${what}. There is no ${sources[0]} in this folder, nor another file that has this.`;
  const found = declaredIn(question, texts);
  if (found.length === 0)
    return `I did not find ${what}: ${enumerate(files)} ${files.length === 1 ? "does" : "do"} not have it.`;
  return paragraphs(
    ...found.map(({ file, part, value }) =>
      value.startsWith("- ") ? paragraphs(`${file}${part}:`, value) : `${value}, says ${file}.`,
    ),
  );
}

function* planHowTo(script: string): Plan {
  const [first, ...others] = findHowTo(yield* readProject(howToFiles), script);
  if (first === undefined) return `I did not find how to ${script} this project in its own files.`;
  const more = others.map(({ command, because }) => `${code(command)} (${because})`);
  return paragraphs(
    `Run ${code(first.command)} (${first.because}).`,
    more.length > 0 ? `Or ${enumerate(more, "or")}.` : undefined,
    script === "test" ? 'To have them run now, say "run the tests".' : undefined,
  );
}

function* planDocument(path: string): Plan {
  const text = yield* readText(path === "" ? { path: "readme", lookUp: true } : { path });
  if (typeof text === "string") return text;
  const headings = text.lines.flatMap(({ text: each }) => (/^#{1,3} /.test(each) ? [each] : []));
  return paragraphs(
    `${code(text.path)} begins:`,
    fenced(firstParagraph(text) ?? "(no text)"),
    headings.length > 0 ? paragraphs("Its headings:", fenced(headings.slice(0, 40).join("\n"))) : undefined,
  );
}

export const matchFact = phraseIntent<FactSlots>({
  name: "fact",
  phrases,
  read({ meaning: question, traits, slots }, request) {
    const language = slots.language
      ?.toLowerCase()
      .replace(/^golang$/, "go")
      .replace(/^node\.?js$/, "node");
    const script = traits.script === "$" ? slots.script : traits.script;
    const file = namedPath(slots.file, request)?.path;
    const subject = script === undefined ? (language ?? file) : scriptName(script);
    return { question, ...(subject !== undefined && { subject }) };
  },
  plan: planFact,
});
