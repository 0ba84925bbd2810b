/** The name of a skill by the specification: at most 64 lowercase letters, digits and single hyphens, the same as its folder's. */

export const NAME_LIMIT = 64;

/** Sentences without their full stop. */
export function nameProblems(written: string, folder: string): readonly string[] {
  const name = written.trim().normalize("NFKC");
  const problems: string[] = [];
  const length = [...name].length;
  if (length > NAME_LIMIT)
    problems.push(`name exceeds ${NAME_LIMIT} characters (the character limit): it has ${length}`);
  if (name !== name.toLowerCase()) problems.push(`name '${name}' must be lowercase`);
  if (/^-|-$/.test(name)) problems.push("name cannot start or end with a hyphen");
  if (name.includes("--")) problems.push("name cannot contain consecutive hyphens");
  if (!/^[\p{L}\p{N}-]+$/u.test(name)) {
    problems.push(`name '${name}' contains invalid characters: only letters, digits and hyphens are allowed`);
  }
  if (folder.normalize("NFKC") !== name) {
    problems.push(`name does not match parent directory: '${folder}' must match skill name '${name}'`);
  }
  return problems;
}
