/**
 * Lines that look like the definition of a name, by patterns of common languages. The regular expressions use no look-around, because
 * the search does not support it.
 */
import { escapeRegex } from "./calls.js";
import type { MatchedFile } from "./outputs/search-output.js";

const DECLARATIONS =
  "function\\*?|class|interface|type|enum|struct|trait|namespace|module|mod|def|fn|func|fun|sub|proc|object|record|protocol|union|macro_rules!|#define|defmodule|defp?|typedef|impl|extension|actor";
const BINDINGS = "const|let|var|val|static|final|local|my|our|readonly";
const MODIFIERS =
  "(?:(?:export|default|public|private|protected|internal|static|async|override|readonly|abstract|final|virtual|get|set|inline|constexpr|unsafe|extern|declare|typedef|data|sealed|open|partial|const|pub(?:\\([^)]*\\))?|template\\s*<[^>]*>|@[\\w.]+(?:\\([^)]*\\))?)\\s+)*";

export function definitionPattern(name: string): string {
  const last = /[^.:#>]+$/.exec(name)?.[0] ?? name;
  const n = escapeRegex(last);
  const end = /\w$/.test(last) ? "\\b" : "";
  return [
    // function x, class x, func (receiver) x
    `^\\s*${MODIFIERS}(?:${DECLARATIONS})\\s+(?:\\([^)]*\\)\\s*)?${n}${end}`,
    // const x = , let x:
    `^\\s*${MODIFIERS}(?:${BINDINGS})\\s+(?:mut\\s+)?${n}\\s*[:=;]`,
    // a method with its body: x(…) {
    `^\\s*${MODIFIERS}[*#]?${n}\\s*(?:<[^>]*>)?\\([^;]*\\)\\s*(?::\\s*[^={};]+)?\\{`,
    // int x(…), at the beginning of a line
    `^[A-Za-z_][\\w:<>,*&\\[\\] ]*[ *&]${n}\\s*\\([^;]*\\)?\\s*(?:const\\s*)?\\{?\\s*$`,
    // x = …, x: type = …, at the beginning of a line
    `^${n}\\s*(?::[^=]+)?=[^=]`,
    // x: function, x: (…) =>
    `^\\s*["']?${n}["']?\\s*[:=]\\s*(?:async\\s*)?(?:function\\b|\\([^)]*\\)\\s*(?::[^=]+)?=>)`,
    // x() in a shell
    `^${n}\\s*\\(\\)\\s*\\{?\\s*$`,
  ].join("|");
}

/** What the patterns cannot exclude: a statement that uses the name, a comment. */
const NOT_A_DEFINITION =
  /^\s*(?:return|await|throw|else|new|yield|case|import|from|if|while|for|and|or|not|delete|typeof|void|print|assert|echo|use|using|require|include|go|defer|raise|export\s+(?:\{|\*|type\s*\{)|\/\/|\/?\*|#(?!\s*define)|--|"|')/;

/** "the class Turn" in prose is not a definition. */
const PROSE = /\.(?:md|markdown|mdx|txt|rst|adoc|html?|log)$/i;

export function definitionLines(files: readonly MatchedFile[]): readonly MatchedFile[] {
  return files
    .filter((file) => !PROSE.test(file.path))
    .map((file) => ({ ...file, lines: file.lines.filter(({ text }) => !NOT_A_DEFINITION.test(text)) }))
    .filter((file) => file.lines.length > 0);
}
