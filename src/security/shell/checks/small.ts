/** Checks of a few lines each. */
import { wordPathProblem } from "../paths.js";
import { fixedValue } from "../word-values.js";
import type { Check } from "./check.js";

/** `%n` stores into a variable, and the name of one may hold commands; so may what follows `-v`. */
export const checkPrintf: Check = ({ words: [format] }) => {
  const text = format === undefined ? undefined : fixedValue(format);
  if (text === undefined) return "the format of printf is not known beforehand";
  if (text.startsWith("-")) return "printf has an option";
  return /%[^%a-zA-Z(]*[hljztL]*n/.test(text) ? "the format of printf stores into a variable" : undefined;
};

/** An operand that does not start with a plus sets the clock. */
export const checkDate: Check = ({ arguments: { operands } }) =>
  operands.every(({ value }) => value.startsWith("+")) ? undefined : "date may set the clock";

/** An operand with an extension is the name of a file, not a slip in the options. */
export const checkNamedFile: Check = ({ program, arguments: { operands } }) =>
  operands.every(({ value }) => /^[\w./-]+\.[a-z0-9]+$/i.test(value))
    ? undefined
    : `an argument of "${program}" may not be a file`;

/** jq can show the environment and load modules. */
export const checkJq: Check = ({ arguments: { operands } }) => {
  const [filter] = operands;
  if (filter === undefined || fixedValue(filter.word) === undefined) return "the filter of jq is not known beforehand";
  return /\b(env|import|include|modulemeta|input_filename|get_search_list)\b|\$ENV|\$__/.test(filter.value)
    ? "the filter of jq reads more than its input"
    : undefined;
};

/** yq as well, and it runs texts as filters. */
export const checkYq: Check = (call) => {
  const problem = checkJq(call);
  const [filter, ...files] = call.arguments.operands;
  if (problem !== undefined || filter === undefined) return problem;
  if (/^[\w-]+$/.test(filter.value)) return "the filter of yq may be a sub-command";
  // A filter that is the name of a file is taken for one.
  const misread = files.length === 0 ? wordPathProblem(filter.word, call.place) : undefined;
  if (misread !== undefined) return misread;
  return /\b(strenv|envsubst|load\w*|eval|split_doc|system|filename)\b/.test(filter.value)
    ? "the filter of yq reads more than its input"
    : undefined;
};

const PLAIN_VARIABLES =
  /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|TERM|LANG|LC_[A-Z]+|TZ|TMPDIR|HOSTNAME|EDITOR|CI|NODE_ENV|VIRTUAL_ENV|GOPATH|JAVA_HOME)$/;

export const checkPrintenv: Check = ({ arguments: { operands } }) =>
  operands.every(({ value }) => PLAIN_VARIABLES.test(value)) ? undefined : "a variable may hold a secret";

export const checkJavaVersion: Check = ({ words: [option, ...more] }) =>
  more.length === 0 && /^--?version$/.test(option?.text ?? "") ? undefined : "java is asked for more than its version";

/** Judges what asks who listens where: `-i :3000`, `-nP -iTCP -sTCP:LISTEN`. */
export const checkLsof: Check = ({ words }) => {
  const texts = words.map((word) => fixedValue(word) ?? "?");
  const known = /^(-[nPtl]+|-[nP]*i|-[nP]*i(TCP|UDP)?(:[0-9]+)?|(TCP|UDP)?:[0-9]+|-sTCP:LISTEN)$/;
  return texts.some((text) => /^-[nP]*i/.test(text)) && texts.every((text) => known.test(text))
    ? undefined
    : "lsof is asked for more than ports";
};

const PS_WORD =
  /^(aux?f?|ax|-[eAafljHLT]+|-[eAafl]*[pCo]|-[eAafl]*o[a-z,%=]+|--no-headers|--sort=[-+a-z,%]+|--forest|[0-9]+(,[0-9]+)*)$/;
const PS_FIELDS =
  /^(?:,?(?:pid|ppid|pgid|sid|uid|gid|user|ruser|group|comm|cmd|command|args|%cpu|%mem|pcpu|pmem|rss|vsz|vsize|sz|stat|state|etime|etimes|time|start|lstart|tty|nice|ni|pri|psr|nlwp|thcount|wchan)=?)+$/;

/** Only forms that do not show the environment of processes: `e` without a dash does, and so does the field `environ`. */
export const checkPs: Check = ({ words }) => {
  const texts = words.map((word) => fixedValue(word) ?? "?");
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index] ?? "";
    if (!PS_WORD.test(text)) return "ps is asked for more than a list";
    const letters = /^-[a-zA-Z]*?([pCo])([a-z,%=]*)$/.exec(text);
    if (letters === null) continue;
    const value = letters[2] === "" || letters[2] === undefined ? texts[++index] : letters[2];
    const isKnown = letters[1] === "o" ? PS_FIELDS : letters[1] === "p" ? /^[0-9]+(,[0-9]+)*$/ : /^[\w.-]+$/;
    if (value === undefined || !isKnown.test(value)) return "ps is asked for more than a list";
  }
  return undefined;
};

/** Listing the content of one archive in the workspace; a colon would make it one on another machine. */
export const checkTar: Check = ({ words: [mode, archive, ...more], place }) => {
  const letters = mode === undefined ? "" : (fixedValue(mode) ?? "");
  if (!/^-?(t[zjJv]*f|[zj]?tv?f)$/.test(letters) || archive === undefined || more.length > 0)
    return '"tar" does more than list';
  if (fixedValue(archive) === undefined || /[:-]/.test(archive.text.charAt(0)) || archive.text.includes(":")) {
    return "the archive of tar is not a plain file";
  }
  return wordPathProblem(archive, place);
};

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const LONGEST_SLEEP_SECONDS = 60;

/** `sleep infinity` would hold a turn until the time limit of the command. */
export const checkSleep: Check = ({ arguments: { operands } }) => {
  const [, digits, unit = "s"] = /^([0-9]{1,6}(?:\.[0-9]{1,6})?)([smhd]?)$/.exec(operands[0]?.value ?? "") ?? [];
  if (digits === undefined) return "how long it sleeps is not known beforehand";
  const seconds = Number(digits) * (UNIT_SECONDS[unit || "s"] ?? Number.POSITIVE_INFINITY);
  return seconds <= LONGEST_SLEEP_SECONDS ? undefined : `it sleeps longer than ${LONGEST_SLEEP_SECONDS} seconds`;
};
