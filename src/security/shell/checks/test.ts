/** `test`, `[` and `[[`: only operators that look at files and texts. `-v` and numbers in `[[ ]]` run what a name holds. */

import type { Whereabouts } from "../paths.js";
import { wordPathProblem } from "../paths.js";
import type { Word } from "../syntax.js";
import { fixedValue, hasGlob } from "../word-values.js";
import type { Check } from "./check.js";

const FILE_TESTS = new Set("-b -c -d -e -f -g -h -k -L -p -r -s -S -u -w -x -G -N -O".split(" "));
const TEXT_TESTS = new Set(["-n", "-z"]);
const TEXT_COMPARISONS = new Set(["=", "==", "!=", "<", ">"]);
const FILE_COMPARISONS = new Set(["-nt", "-ot", "-ef"]);
const NUMBER_COMPARISONS = new Set("-eq -ne -lt -le -gt -ge".split(" "));

export const checkTest: Check = ({ program, words, place }) => {
  const inner = program === "[" ? words.slice(0, -1) : words;
  if (program === "[" && words.at(-1)?.text !== "]") return '"[" is not closed';
  return conditionProblem(inner, place);
};

export function conditionProblem(words: readonly Word[], place: Whereabouts): string | undefined {
  const operands = words[0]?.text === "!" ? words.slice(1) : words;
  const values = operands.map((word) => (hasGlob(word) ? undefined : fixedValue(word)));
  if (values.includes(undefined)) return "a condition depends on what is not known beforehand";
  const [first, second, third] = operands;
  const [operator = "", middle = ""] = values;
  if (first === undefined) return "a condition is empty";
  if (operands.length === 1) return operator.startsWith("-") ? "a condition is not known to be read-only" : undefined;
  if (operands.length === 2 && second !== undefined) {
    if (FILE_TESTS.has(operator)) return wordPathProblem(second, place);
    return TEXT_TESTS.has(operator) ? undefined : `the condition ${operator} is not known to be read-only`;
  }
  if (operands.length !== 3 || third === undefined) return "a condition has several parts";
  if (TEXT_COMPARISONS.has(middle)) return undefined;
  if (FILE_COMPARISONS.has(middle)) return wordPathProblem(first, place) ?? wordPathProblem(third, place);
  const numbers = /^-?[0-9]+$/.test(first.text) && /^-?[0-9]+$/.test(third.text);
  return NUMBER_COMPARISONS.has(middle) && numbers ? undefined : `the condition ${middle} is not known to be read-only`;
}
