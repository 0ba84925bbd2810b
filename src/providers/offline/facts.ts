/** Questions that one look-up answers. `facts.txt` has where each answer stands, `phrases/facts.txt` how it is asked for. */
import { grepCall } from "./calls.js";
import { declaredIn, filesThatTell } from "./declared.js";
import { findHowTo, howToFiles } from "./ecosystems.js";
import table from "./facts.txt";
import type { Intent } from "./intent.js";
import { askGit } from "./intents/git.js";
import { firstParagraph } from "./intents/project.js";
import { lookUpDocument } from "./look-up.js";
import { parseMatches } from "./outputs/search-output.js";
import phrases from "./phrases/facts.txt";
import { PhraseBook } from "./phrases.js";
import { call, type Plan, type Toolbox } from "./plan.js";
import { readTogether, topNames } from "./project-files.js";
import { type Row, rowsOf } from "./rows.js";
import { bulleted, code, count, enumerate, fenced, paragraphs } from "./wording.js";

export interface FactSlots {
  readonly question: string;
  /** Of `howto`: test, build, install … Of `version`: the language. */
  readonly subject?: string;
}

const PHRASES = new PhraseBook(phrases);
const MOST_LINES = 60;

function* planFact({ question, subject = "" }: FactSlots, tools: Toolbox): Plan {
  if (question === "howto") return yield* planHowTo(subject);
  if (question === "readme") return yield* planReadme();
  const asked = question === "version" ? subject : question;
  const rows = rowsOf(table).filter(([name]) => name === asked);
  const [first = []] = rows;
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
    const shown = lines.slice(0, MOST_LINES).map(({ path, line, text }) => `${path}:${line}: ${text.trim()}`);
    const more = lines.length > shown.length ? `The first ${shown.length} are shown.` : undefined;
    return paragraphs(`${label}: ${cut}${lines.length}.`, fenced(shown.join("\n")), more);
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
  const { text, failed } = yield* askGit(
    tools,
    "log",
    args.split(" ").map((word) => word.replaceAll("_", " ")),
  );
  if (failed) return paragraphs(`${code("git log")} failed:`, fenced(text.trim() || "(no message)"));
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("[… "));
  if (lines.length === 0) return "There are no commits.";
  const cut = /^\[… /m.test(text) ? "The history is longer than one look shows." : undefined;
  if (manner === "counted") return paragraphs(`${count(lines.length, words)}.`, cut);
  if (manner === "shown") return paragraphs(words, fenced(lines.join("\n")), cut);
  if (manner === "listed") return paragraphs(words, bulleted([...new Set(lines)], 40), cut);
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  const rows = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const shown = rows.slice(0, 30).map(([name, number]) => `${String(number).padStart(5)}  ${name}`);
  const [what = "", unit = ""] = words.split(" ");
  return paragraphs(`${count(rows.length, what)}, by number of ${unit}s:`, fenced(shown.join("\n")), cut);
}

function* planDeclared(question: string, what: string): Plan {
  const names = yield* topNames();
  const told = filesThatTell(question);
  const files = told.filter((file) => names.includes(file));
  if (files.length === 0)
    return `I did not find ${what}. There is no ${told[0]} in this folder, nor another file that tells.`;
  const found = declaredIn(question, yield* readTogether(files.slice(0, 10)));
  if (found.length === 0)
    return `I did not find ${what}: ${enumerate(files)} ${files.length === 1 ? "does" : "do"} not tell.`;
  return paragraphs(
    ...found.map(({ file, part, value }) =>
      value.startsWith("- ") ? paragraphs(`${file}${part}:`, value) : `${value}, says ${file}.`,
    ),
  );
}

function* planHowTo(script: string): Plan {
  const names = yield* topNames();
  const texts = yield* readTogether(howToFiles(names));
  const [first, ...others] = findHowTo({ names, texts }, script);
  if (first === undefined) return `I did not find how to ${script} this project in its own files.`;
  const more = others.map(({ command, because }) => `${code(command)} (${because})`);
  return paragraphs(
    `Run ${code(first.command)} (${first.because}).`,
    more.length > 0 ? `Or ${enumerate(more, "or")}.` : undefined,
    script === "test" ? 'To have them run now, say "run the tests".' : undefined,
  );
}

function* planReadme(): Plan {
  const path = yield* lookUpDocument("readme");
  if (path === undefined) return "There is no README file in this project.";
  const text = (yield* readTogether([path])).get(path);
  const headings = (text?.lines ?? []).flatMap(({ text: each }) => (/^#{1,3} /.test(each) ? [each] : []));
  return paragraphs(
    `${code(path)} begins:`,
    fenced(firstParagraph(text) ?? "(no text)"),
    headings.length > 0 ? paragraphs("Its headings:", fenced(headings.slice(0, 40).join("\n"))) : undefined,
  );
}

export const factIntent: Intent<FactSlots> = {
  name: "fact",
  parse(request) {
    for (const { meaning: question, traits, slots } of PHRASES.matches(request.text)) {
      const said = (traits.script === "$" ? slots.script : (traits.script ?? slots.language))?.toLowerCase();
      const subject = said
        ?.replace(/^golang$/, "go")
        .replace(/^node\.?js$/, "node")
        .replace(/^(lint|format)t?er$/, "$1")
        .replace(/^dev server$/, "dev");
      return { question, ...(subject !== undefined && { subject }) };
    }
    return undefined;
  },
  plan: planFact,
};
