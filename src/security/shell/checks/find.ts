/** find: the folders to search, then tests that only read. */
import { wordPathProblem } from "../paths.js";
import { fixedValue } from "../word-values.js";
import type { Check } from "./check.js";

const words = (list: string) => new Set(list.split(" "));

const ALONE = words(
  "-print -print0 -ls -prune -quit -empty -true -false -readable -writable -executable -depth -mount -xdev -daystart " +
    "-follow -noleaf -not -and -or -a -o ! ( ) , -nouser -nogroup",
);
const WITH_TEXT = words(
  "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -type -xtype -maxdepth " +
    "-mindepth -size -mtime -atime -ctime -mmin -amin -cmin -newermt -perm -user -group -uid -gid -links -inum -printf " +
    "-fstype",
);
const WITH_FILE = words("-newer -anewer -cnewer -samefile");

export const checkFind: Check = ({ words: all, place }) => {
  let index = 0;
  while (["-L", "-P", "-H"].includes(all[index]?.text ?? "")) index += 1;
  for (; index < all.length; index++) {
    const word = all[index];
    if (word === undefined || /^[-!(),]/.test(fixedValue(word) ?? "")) break;
    if (/^[-*?[]/.test(word.text)) return `files that ${word.text} finds may look like tests`;
    const problem = wordPathProblem(word, place);
    if (problem !== undefined) return problem;
  }
  for (; index < all.length; index++) {
    const word = all[index];
    const test = word === undefined ? undefined : fixedValue(word);
    if (test === undefined) return `the test ${word?.text ?? ""} is not known beforehand`;
    if (ALONE.has(test)) continue;
    if (!WITH_TEXT.has(test) && !WITH_FILE.has(test)) return `"find ${test}" is not known to only read`;
    index += 1;
    const operand = all[index];
    const value = operand === undefined ? undefined : fixedValue(operand);
    if (operand === undefined || value === undefined) return `the value of ${test} is missing or not known beforehand`;
    if (value.startsWith("-") && !/^-[0-9]+[a-zA-Z]?$/.test(value)) return `the value of ${test} looks like a test`;
    const problem = WITH_FILE.has(test) ? wordPathProblem(operand, place) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
};
