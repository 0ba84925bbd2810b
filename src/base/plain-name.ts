const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * A file name in the form that the most lenient file system compares: it ignores letter case, trailing dots and spaces, stream
 * suffixes, short names and invisible characters.
 */
export function plainName(name: string): string {
  // Most names are plain, and this runs for every entry of a work tree.
  if (/^[a-z0-9_-][a-z0-9_.-]*[a-z0-9_-]$/.test(name)) return name;
  const folded = name
    .normalize("NFKC")
    .replace(INVISIBLE, "")
    .replace(/:.*$/, "")
    .replace(/[. ]+$/, "")
    .toLowerCase();
  return folded === "git~1" ? ".git" : folded;
}

/** The same for each name of a path with forward slashes. */
export function plainPath(path: string): string {
  return path.split("/").map(plainName).join("/");
}
