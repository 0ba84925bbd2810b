/** The format of `parse.ts` in Lark, for models that write a patch as plain text. */
export const PATCH_GRAMMAR = `start: "*** Begin Patch" LF change+ "*** End Patch" LF?
change: added | deleted | updated
added: "*** Add File: " /(.+)/ LF added_line+
deleted: "*** Delete File: " /(.+)/ LF
updated: "*** Update File: " /(.+)/ LF moved? hunks?
moved: "*** Move to: " /(.+)/ LF
hunks: (place | line)+ file_end?
place: ("@@" | "@@ " /(.+)/) LF
added_line: "+" /(.*)/ LF
line: ("+" | "-" | " ") /(.*)/ LF
file_end: "*** End of File" LF
%import common.LF`;
