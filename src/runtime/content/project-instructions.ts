/**
 * Instruction files, approved and marked.
 *
 * 1. Order: the user's own, then the project's from the outermost folder to the closest, which wins.
 * 2. The instructions at the start never change. Files of folders below come with the result of the call that first touches a file
 *    there; unapproved files are then skipped.
 * 3. The mark of the blocks is derived from their content: the same files give the same bytes in every session, so that a provider can
 *    cache them, and no file can contain a mark that depends on itself.
 */

import { dirname, join, posix, relative, resolve } from "node:path";
import { compileGlob, matchesPath } from "../../base/glob.js";
import { UsageError } from "../../base/usage-error.js";
import { cappedTexts, type NamedText } from "../../context/instructions/capped-texts.js";
import { expandImports, type ImportAnswer, type ImportedFile } from "../../context/instructions/expand-imports.js";
import { type Marker, replaceMarkers } from "../../context/instructions/markers.js";
import { type RuleFile, readRuleFile } from "../../context/instructions/rule-file.js";
import type { Failure } from "../../protocol/errors.js";
import { approvedText } from "../../security/trust/approved-texts.js";
import type { TrustedItem } from "../../security/trust/content.js";
import { type InstructionLoad, InstructionLoads } from "../../security/trust/instruction-loads.js";
import { isThere } from "../../security/trust/is-there.js";
import type { TrustOutcome } from "../../security/trust/pass-content.js";
import { TrustError } from "../../security/trust/trust-error.js";
import { TrustGate, type TrustGateOptions } from "../../security/trust/trust-gate.js";
import { contentMark } from "../../security/untrusted/content-mark.js";
import { INSTRUCTIONS_NOTICE } from "../../security/untrusted/standing-instruction.js";
import { wrapApproved } from "../../security/untrusted/untrusted.js";
import { isWithin } from "../../system/within.js";
import { approver, openApprovals } from "./approvals.js";
import { discoverOptions, type ProjectContentOptions } from "./content-options.js";
import { importPath, importsOf } from "./instruction-imports.js";

const LATEST_COUNTS = "This version counts if you have an earlier one.";

interface Rule extends RuleFile {
  readonly item: TrustedItem;
  readonly name: string;
  /** The base folder of its globs. */
  readonly folder: string;
  /** The time when it was read: those of the start are there for the whole run. */
  readonly moment: "start" | "turn";
}

export class ProjectInstructions {
  readonly #options: ProjectContentOptions;
  #gate: TrustGate;
  /** Does not ask: for use during a turn. */
  #quietGate: TrustGate;
  #rules: Rule[] = [];
  /** Rules that the model already has. */
  #sentRules: Rule[] = [];
  readonly #files: string[] = [];
  readonly #markers = new Set<Marker>();
  #refused: Failure | undefined;
  #text: string | undefined;
  #others: readonly TrustedItem[] = [];
  /** The texts at the start. */
  #begin: readonly NamedText[] = [];
  #loads = new InstructionLoads();

  constructor(options: ProjectContentOptions) {
    this.#options = options;
    const { person, ...rest } = gateOptions(options);
    this.#gate = new TrustGate({ ...rest, ...(person !== undefined && { person }) });
    this.#quietGate = quietGate(options);
  }

  /** The conversation no longer contains the rules of earlier turns. */
  forget(): void {
    this.#quietGate = quietGate(this.#options);
    this.#rules = [...this.#rules, ...this.#sentRules].filter(({ moment }) => moment === "start");
    this.#sentRules = [];
    this.#loads = this.#loads.ofStart();
  }

  /** The same instructions for another conversation. */
  fork(): ProjectInstructions {
    const forked = new ProjectInstructions(this.#options);
    forked.#rules = [...this.#rules, ...this.#sentRules].filter(({ moment }) => moment === "start");
    forked.#files.push(...this.#files);
    forked.#text = this.#text;
    forked.#loads = this.#loads.ofStart();
    return forked;
  }

  get text(): string | undefined {
    return this.#text;
  }

  get files(): readonly string[] {
    return this.#files;
  }

  /** Tells what the conversation has got of the files, oldest first. */
  get loads(): readonly InstructionLoad[] {
    return this.#loads.list;
  }

  /** The live data that the files use. */
  get markers(): readonly Marker[] {
    return [...this.#markers];
  }

  /** Approved content of other kinds, which the same review covered. */
  get others(): readonly TrustedItem[] {
    return this.#others;
  }

  /** Tells whether there are rules for only some files. */
  get hasRules(): boolean {
    return this.#rules.length > 0;
  }

  /** Loads approved content; fails if there is more and no terminal to ask on. */
  async enter(): Promise<Failure | undefined> {
    try {
      const outcome = await this.#gate.enter();
      if (outcome.refuse !== undefined) return outcome.refuse;
      this.#notify(outcome);
      this.#others = outcome.load.filter(({ kind }) => kind !== "instructions");
      this.#begin = await this.#texts(outcome.load, "start");
      if (this.#refused === undefined) this.#text = this.#block(this.#begin, [INSTRUCTIONS_NOTICE]);
      return this.#refused;
    } catch (error) {
      throw error instanceof TrustError ? new UsageError(error.message) : error;
    }
  }

  /** After the user approved these files: loads the start again, and returns what a conversation does not have yet. */
  async again(files: readonly string[]): Promise<string | undefined> {
    const known = new Set(this.#begin.map(({ name, text }) => JSON.stringify([name, text])));
    this.#gate = quietGate(this.#options);
    this.#rules = this.#rules.filter(({ moment }) => moment === "turn");
    await this.enter();
    const isSent = (rule: Rule) => this.#sentRules.some(({ name, body }) => name === rule.name && body === rule.body);
    this.#rules = this.#rules.filter((rule) => !isSent(rule));
    const fresh = this.#begin.filter(({ name, text }) => !known.has(JSON.stringify([name, text])));
    const below: TrustedItem[] = [];
    const nested = quietGate(this.#options);
    for (const file of files) {
      const { load } = await nested.touch(file);
      below.push(...load.filter(({ root, path }) => join(root, path) === file));
    }
    const texts = [...fresh, ...(await this.#texts(below, "turn", files[0]))];
    const names = texts.map(({ name }) => name).join(", ");
    return this.#block(texts, [`${names}: approved by the user now, to be followed from here on. ${LATEST_COUNTS}`]);
  }

  async touched(paths: readonly string[]): Promise<string | undefined> {
    const items: TrustedItem[] = [];
    for (const path of paths) {
      const outcome = await this.#quietGate.touch(path);
      this.#notify(outcome);
      items.push(...outcome.load);
    }
    const texts = [...(await this.#texts(items, "turn", paths[0])), ...this.#takeRulesFor(paths)];
    const names = texts.map(({ name }) => name).join(", ");
    return this.#block(texts, [`${names}: approved by the user, to be followed for the files beside and below.`]);
  }

  /** In the order of the items; rules for only some files are kept for later. */
  async #texts(
    items: readonly TrustedItem[],
    moment: "start" | "turn",
    touched?: string,
  ): Promise<readonly NamedText[]> {
    const trigger = touched === undefined ? {} : { trigger: resolve(this.#options.root, touched) };
    const texts: NamedText[] = [];
    const onRequest: string[] = [];
    for (const item of items.filter(({ imported, kind }) => imported !== true && kind === "instructions")) {
      const path = join(item.root, item.path);
      const name = this.#nameOf(path);
      let text = await approvedText(item, (each) => (moment === "start" ? this.#gate : this.#quietGate).read(each));
      if (path.endsWith(".mdc")) {
        const rule = readRuleFile(text);
        if (rule.mode === "globs") this.#rules.push({ ...rule, item, name, folder: ruleFolder(path), moment });
        if (rule.mode === "on request") onRequest.push(`${name}: ${rule.description}`);
        if (rule.mode !== "always") continue;
        text = rule.body;
      }
      this.#loads.add(item, { reason: moment === "start" ? "session_start" : "nested_traversal", ...trigger });
      const replaced = replaceMarkers(await this.#expand({ path, text }, { moment, ...trigger }));
      for (const marker of replaced.markers) this.#markers.add(marker);
      texts.push({ name, text: replaced.text });
    }
    if (onRequest.length > 0)
      texts.push({ name: "rules", text: `Read such a file when it fits the work:\n${onRequest.join("\n")}` });
    return texts;
  }

  #expand(
    file: ImportedFile,
    { moment, ...trigger }: { readonly moment: "start" | "turn"; readonly trigger?: string },
  ): Promise<string> {
    const gate = moment === "start" ? this.#gate : this.#quietGate;
    return expandImports(file, async (spelled, from): Promise<ImportAnswer> => {
      const path = importPath(spelled, from.path);
      if (!isThere(path)) return { problem: undefined };
      const outcome = await gate.include(path, "instructions", moment);
      this.#refused ??= outcome.refuse;
      this.#notify(outcome);
      const [item] = outcome.load;
      if (item === undefined) return { problem: "is not approved, or does not belong to the project" };
      this.#loads.add(item, { reason: "include", parent: from.path, ...trigger });
      return { path: join(item.root, item.path), text: await approvedText(item, (each) => gate.read(each)) };
    });
  }

  /** Each rule once. */
  #takeRulesFor(paths: readonly string[]): readonly NamedText[] {
    const full = paths.map((path) => resolve(this.#options.root, path));
    const holds = (rule: Rule) => full.some((path) => ruleMatches(rule, path));
    const taken = this.#rules.filter(holds);
    this.#rules = this.#rules.filter((rule) => !taken.includes(rule));
    this.#sentRules.push(...taken);
    for (const { item, globs, ...rule } of taken) {
      const trigger = full.find((path) => ruleMatches({ ...rule, item, globs }, path)) ?? "";
      this.#loads.add(item, { reason: "path_glob_match", globs, trigger });
    }
    return taken.map(({ name, body }) => ({ name, text: body }));
  }

  #block(texts: readonly NamedText[], before: readonly string[]): string | undefined {
    const { context_bytes: limit } = this.#options.loaded.settings;
    const kept = cappedTexts(texts, limit.value);
    if (kept.length === 0) return undefined;
    const cut = [...kept.filter((one) => one.cut > 0).map(({ name }) => name), ...leftOver(texts, kept)];
    if (cut.length > 0) {
      const names = cut.join(", ");
      this.#options.notify(`Instruction files are cut at ${limit.value} bytes together (context_bytes): ${names}`);
    }
    for (const { name } of kept) if (!this.#files.includes(name)) this.#files.push(name);
    const mark = contentMark(kept.map(({ name, text }) => [name, text]));
    const blocks = kept.map(({ name, text }) => wrapApproved({ source: name, text }, mark));
    const after = cut.length === 0 ? [] : [`(Cut for its size; read the rest when it matters: ${cut.join(", ")})`];
    return [...before, ...blocks, ...after].join("\n\n");
  }

  #nameOf(path: string): string {
    const { root } = this.#options;
    return isWithin(path, root) ? relative(root, path) : path;
  }

  #notify({ notes }: TrustOutcome): void {
    for (const note of notes) this.#options.notify(note);
  }
}

function quietGate(options: ProjectContentOptions): TrustGate {
  const { person: _nobody, ...rest } = gateOptions(options);
  return new TrustGate({ ...rest, skipUnapproved: true });
}

export function gateOptions(
  options: ProjectContentOptions,
): TrustGateOptions & Required<Pick<TrustGateOptions, "owner">> {
  const { root, loaded, variables, conversation, color, width, skipUnapproved, allowProjectHooks, asksLater } = options;
  const { leavesOutPrograms, granted } = options;
  return {
    ...discoverOptions(options),
    importsOf,
    ...{ skipUnapproved: skipUnapproved || asksLater === true, allowProjectHooks, color, width },
    ...(asksLater && { asksLater }),
    ...(leavesOutPrograms && { leavesOutPrograms }),
    ...(granted && { granted }),
    openLock: () => openApprovals(root, { roots: loaded.roots, variables }),
    now: () => new Date(),
    owner: () => approver(variables),
    ...(conversation && { person: { by: approver(variables), conversation } }),
  };
}

/** `.cursor/rules/a/b.mdc` applies to the folder that contains `.cursor`. */
function ruleFolder(path: string): string {
  const at = path.lastIndexOf("/.cursor/");
  return at < 0 ? dirname(path) : path.slice(0, at);
}

function ruleMatches({ globs, folder }: Rule, path: string): boolean {
  if (!isWithin(path, folder)) return false;
  const below = relative(folder, path).split("\\").join(posix.sep);
  return globs.some((glob) => {
    try {
      return matchesPath(compileGlob(glob.includes("/") ? glob : `**/${glob}`, "path"), below);
    } catch {
      // An invalid glob matches nothing.
      return false;
    }
  });
}

function leftOver(texts: readonly NamedText[], kept: readonly NamedText[]): readonly string[] {
  const names = new Set(kept.map(({ name }) => name));
  return texts.filter(({ name, text }) => text.trim() !== "" && !names.has(name)).map(({ name }) => name);
}
