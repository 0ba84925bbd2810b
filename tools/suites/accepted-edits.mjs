/**
 * Cases of the suite `edits` that Oxbow does not follow. Where a quotation is not in the file, Oxbow refuses, names the closest lines and
 * leaves the file as it is: a model that reads that corrects itself, and a guess could change the wrong place.
 */
const LOOSE =
  "expects lines to match whatever their indentation, even if it differs from line to line; the result would be indented in another way than the file, which breaks Python and YAML";
const REINDENTED =
  "expects the new text as it was written; Oxbow moves it to the indentation of the file, because the quotation was indented in another way, too";

export const ACCEPTED_EDITS = [
  { suite: "edits", id: "codex/seek/trim_match", why: LOOSE },
  { suite: "edits", id: "gemini/flexible_ws", why: LOOSE },
  { suite: "edits", id: "opencode/replacer/04", why: LOOSE },
  { suite: "edits", id: "opencode/replacer/11", why: LOOSE },
  { suite: "edits", id: "opencode/replacer/07", why: REINDENTED },
  { suite: "edits", id: "opencode/replacer/10", why: REINDENTED },
  { suite: "edits", id: "opencode/replacer/25", why: REINDENTED },
  { suite: "edits", id: "opencode/replacer/27", why: REINDENTED },
  { suite: "edits", id: "opencode/replacer/31", why: REINDENTED },
];
