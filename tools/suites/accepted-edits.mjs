/**
 * Cases of the suite `edits` that Oxbow does not follow, each compared with what its own tool expects.
 *
 * 1. If a quotation is not in the file and the indentation of the new lines is not clear, Oxbow refuses, names the closest lines and
 *    leaves the file unchanged. The model can then correct itself; a guess could break Python or YAML. The tools below guess, each in
 *    its own way: Codex and opencode write the new lines unchanged, Gemini gives all of them the indentation of the first line.
 * 2. If the indentation is clear, Oxbow gives the new lines that of the file. opencode writes them unchanged.
 */
const accepted = (id, why) => ({ suite: "edits", id, why });

export const ACCEPTED_EDITS = [
  accepted(
    "codex/seek/trim_match",
    "Codex replaces two lines of different indentation (4 and 3) by one line without any; Oxbow refuses and quotes the two lines",
  ),
  accepted(
    "gemini/flexible_ws",
    "Gemini writes 'moon' with 2 spaces where the file has 4; Oxbow refuses, as the quotation has none and the lines of the file differ",
  ),
  accepted(
    "opencode/replacer/04",
    "opencode removes the indentation of a whole block (2, 4, 2); Oxbow refuses, as the quotation has none and the lines of the file differ",
  ),
  accepted(
    "opencode/replacer/11",
    "opencode removes the indentation of a block, and the new text has fewer lines, so no line says how far it goes in; Oxbow refuses",
  ),
  accepted(
    "opencode/replacer/07",
    "opencode writes spaces instead of the file's tab and loses the line break before the brace; Oxbow keeps both",
  ),
  accepted("opencode/replacer/10", "opencode moves a nested function to the left margin; Oxbow keeps its 4 spaces"),
  accepted("opencode/replacer/25", "opencode moves an indented function to the left margin; Oxbow keeps its 2 spaces"),
  accepted(
    "opencode/replacer/27",
    "opencode moves an indented block to the left margin and loses the last line break; Oxbow keeps both",
  ),
  accepted(
    "opencode/replacer/31",
    "opencode takes the indentation of the changed line away and loses a line break; Oxbow keeps both",
  ),
  ...["codex/scenario/010_move_overwrites_existing_destination", "codex/tool/move_overwrites_destination"].map((id) =>
    accepted(id, "Codex moves a file over another one; Oxbow asks to read that one first, as before writing it"),
  ),
  ...["codex/scenario/011_add_overwrites_existing_file", "codex/tool/add_overwrites_existing"].map((id) =>
    accepted(id, "Codex adds a file over another one; Oxbow asks to read that one first, as before writing it"),
  ),
];
