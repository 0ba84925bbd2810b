/** The paths that a patch changes, for the decision about it. */
type ParsePatch = typeof import("../../tools/patch/parse.js").parsePatch;

/** An invalid patch changes nothing: the tool reports the problem. */
export function patchPaths(patch: string, parsePatch: ParsePatch) {
  try {
    return parsePatch(patch).flatMap((change) => {
      const access = change.kind === "delete" ? ("delete" as const) : ("write" as const);
      const moved =
        change.kind === "update" && change.moveTo !== undefined
          ? [{ path: change.moveTo, access: "write" as const }]
          : [];
      return [{ path: change.path, access }, ...moved];
    });
  } catch {
    return [];
  }
}
