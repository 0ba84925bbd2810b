/**
 * Test collections: documents, questions, and which documents answer which question.
 *
 * Three forms are known by their files: Cranfield (`cran.all.1400`), CISI (`CISI.ALL`) and those of BEIR (`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`).
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** `documents`: [path, text]; `questions`: [id, text]; `relevant`: the grades of documents by the question's id. */
export function readCollection(folder) {
  const has = (name) => existsSync(join(folder, name));
  const read = (name) => readFileSync(join(folder, name), "utf8").replaceAll("\r", "");
  const form = has("cran.all.1400") ? cranfield : has("CISI.ALL") ? cisi : has("corpus.jsonl") ? beir : undefined;
  if (form === undefined) throw new Error(`no known collection in ${folder}`);
  const { documents, questions, judgements } = form(read);
  const relevant = new Map();
  for (const [question, document, grade] of judgements) {
    if (!relevant.has(question)) relevant.set(question, new Map());
    relevant.get(question).set(pathOf(document), grade);
  }
  return { documents, questions: questions.filter(([id]) => relevant.has(id)), relevant };
}

function cranfield(read) {
  // The judgements count questions by their order. 1 is the best; 5 and -1 are not relevant.
  const questions = entries(read("cran.qry")).map(([, entry], i) => [String(i + 1), part(entry, "W")]);
  const judgements = rows(read("cranqrel"))
    .map(([question, document, grade]) => [question, document, 5 - Number(grade)])
    .filter(([, , grade]) => grade >= 1 && grade <= 4);
  return { documents: documentsOf(read("cran.all.1400")), questions, judgements };
}

function cisi(read) {
  const questions = entries(read("CISI.QRY")).map(([id, entry]) => [id, part(entry, "W")]);
  const judgements = rows(read("CISI.REL")).map(([question, document]) => [question, document, 1]);
  return { documents: documentsOf(read("CISI.ALL")), questions, judgements };
}

function beir(read) {
  const lines = (name) =>
    read(name)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const documents = lines("corpus.jsonl").map(({ _id, title, text }) => [pathOf(_id), `# ${title}\n\n${text}`]);
  const questions = lines("queries.jsonl").map(({ _id, text }) => [String(_id), text]);
  const judgements = rows(read("qrels/test.tsv"))
    .slice(1)
    .map(([question, document, grade]) => [question, document, Number(grade)])
    .filter(([, , grade]) => grade > 0);
  return { documents, questions, judgements };
}

function documentsOf(text) {
  return entries(text).map(([id, entry]) => [
    pathOf(id),
    `# ${part(entry, "T").replaceAll("\n", " ")}\n\n${part(entry, "W")}`,
  ]);
}

function pathOf(id) {
  return `${id}.md`;
}

function rows(text) {
  return text
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
}

function entries(text) {
  return text
    .split(/^\.I +/m)
    .slice(1)
    .map((entry) => [String(Number.parseInt(entry, 10)), entry]);
}

function part(entry, letter) {
  return new RegExp(`^\\.${letter} *\\n([\\s\\S]*?)(?=^\\.[A-Z] *$|$(?![\\s\\S]))`, "m").exec(entry)?.[1]?.trim() ?? "";
}
