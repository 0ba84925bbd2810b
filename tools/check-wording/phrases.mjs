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
  { pattern: /\b(?:every|any)body\b/i, advice: "name the person or program: all users, any process" },
  { pattern: /\b(?:run|runs|ran|running) unasked\b/i, advice: "say without asking" },
  { pattern: /\bunless (?:given|said)\b/i, advice: 'say "default: …"' },
  { pattern: /\bfor ever\b/i, advice: "say forever, or name the limit" },
  { pattern: /\bin silence\b|\bneeds no word\b/i, advice: "say what happens" },
  {
    pattern: /\b(?:is|are|was|were|be|been) told\b/i,
    advice: "say who reports or shows what: Oxbow tells the user, the model gets",
  },
  { pattern: /\bcannot be had\b/i, advice: "say is not available" },
  { pattern: /(?<!there )\bis no (?:error|reason|agent|fault|person|loss)\b/i, advice: "say is not a …" },
  { pattern: /\bby (?:the )?way of\b/i, advice: "say through, or with" },
  {
    pattern: /(?<=\s)\([A-Z]\d+(?:, [A-Z]\d+)*\)/,
    advice: "leave the id out: only tests name features",
    sourceOnly: true,
  },
  { pattern: /\bfeatures? [A-Z]\d+\b/, advice: "leave the id out: only tests name features", sourceOnly: true },
];

/** Folders of src that still have such phrases. Remove an entry when its folder is clean; add none. */
export const NOT_YET_COVERED = [];
