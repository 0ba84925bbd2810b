/**
 * Reads a file of git's configuration as it is usually written: one heading or one setting a line. What git may read in another way
 * (a value that goes on in the next line, a setting behind its heading) is not understood.
 */
import type { GitSetting } from "./harmless-settings.js";

const BLANK = /^[ \t]*(?:[#;].*)?$/;
const HEADING = /^[ \t]*\[([a-z0-9-]+)(?:[ \t]+"((?:[^"\\]|\\["\\])*)")?\][ \t]*(?:[#;].*)?$/i;
const SETTING = /^[ \t]*([a-z][a-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?$/i;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", '"': '"', "\\": "\\" };

/** Undefined when it is not understood. */
export function parseConfigText(text: string): readonly GitSetting[] | undefined {
  const settings: GitSetting[] = [];
  let prefix: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (BLANK.test(line)) continue;
    const heading = HEADING.exec(line);
    if (heading !== null) {
      const middle = heading[2]?.replace(/\\(.)/g, "$1");
      prefix = `${(heading[1] ?? "").toLowerCase()}.${middle === undefined ? "" : `${middle}.`}`;
      continue;
    }
    const setting = SETTING.exec(line);
    const value = setting?.[2] === undefined ? "true" : readValue(setting[2]);
    if (setting === null || prefix === undefined || value === undefined) return undefined;
    settings.push({ name: prefix + (setting[1] ?? "").toLowerCase(), value });
  }
  return settings;
}

function readValue(text: string): string | undefined {
  let value = "";
  let kept = 0;
  let quoted = false;
  for (let position = 0; position < text.length; position++) {
    const sign = text.charAt(position);
    if (sign === "\\") {
      position += 1;
      const escaped = ESCAPES[text.charAt(position)];
      if (escaped === undefined) return undefined;
      value += escaped;
      kept = value.length;
    } else if (sign === '"') {
      quoted = !quoted;
      kept = value.length;
    } else if (!quoted && (sign === "#" || sign === ";")) {
      break;
    } else {
      value += sign;
      if (quoted || !/[ \t]/.test(sign)) kept = value.length;
    }
  }
  return quoted ? undefined : value.slice(0, kept);
}

/** The settings as a file that git reads in the same way. */
export function configText(settings: readonly GitSetting[]): string {
  const lines: string[] = [];
  let heading = "";
  for (const { name, value } of settings) {
    const key = name.slice(name.lastIndexOf(".") + 1);
    const [section = "", ...middle] = name.slice(0, name.lastIndexOf(".")).split(".");
    const next = middle.length === 0 ? `[${section}]` : `[${section} "${escaped(middle.join("."))}"]`;
    if (next !== heading) lines.push(next);
    heading = next;
    lines.push(
      `\t${key} = "${escaped(value).replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\b", "\\b")}"`,
    );
  }
  return lines.map((line) => `${line}\n`).join("");
}

function escaped(text: string): string {
  return text.replace(/["\\]/g, "\\$&");
}
