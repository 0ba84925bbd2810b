/** Phrases that make comments, messages and documentation hard to read, each with the wording to use instead. */
export const PHRASES = [
  { pattern: /\bwhoever\b/i, advice: "name the person or program: the user, the caller, the client" },
  { pattern: /\bnobody\b/i, advice: "name what is missing: no client, no terminal, no caller" },
  { pattern: /\bsomebody\b/i, advice: "name the person or program: the user, another process" },
  { pattern: /\bwhat is said\b/i, advice: "name it: the text, the answer, the message" },
  { pattern: /\b(?:go|goes|going|gone|went) on with\b/i, advice: "say resume or continue" },
  { pattern: /\bunless told\b/i, advice: 'say "default: …"' },
  { pattern: /\bin the place of\b/i, advice: "say replaces, or instead of" },
  { pattern: /\bas (?:it|one|they|you) likes?\b/i, advice: "say what decides: the default, the model, any value" },
  { pattern: /\bis a no\b/i, advice: "say denies, or denied" },
  { pattern: /\bfeatures? [A-Z]\d+\b/, advice: "leave the id out: only tests name features", sourceOnly: true },
];

/** Folders of src that still have such phrases. Remove an entry when its folder is clean; add none. */
export const NOT_YET_COVERED = ["cli", "commands", "runtime"];
