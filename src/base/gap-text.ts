/** Tells what a StreamGap means to the user. */
export function gapText({ reason }: { readonly reason: string }): string {
  if (reason === "lost")
    return "The engine was stopped before it saved the last events. The session continues from before them.";
  if (reason === "not-stored") return "Some events of this session are no longer in memory, and they were not stored.";
  return "The oldest part of this session has expired. The model no longer sees it.";
}
