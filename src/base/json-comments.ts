/** JSON as editors write it, with comments and commas before a closing bracket, as plain JSON. What is in strings stays. */
export function withoutComments(text: string): string {
  return text
    .replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) => (part.startsWith('"') ? part : " "))
    .replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, (part) => (part.startsWith('"') ? part : ""));
}
