/** The image formats that models accept, detected from their first bytes, because names may be wrong. */
export function imageType(head: Buffer): string | undefined {
  const starts = (bytes: string, at = 0) => head.toString("latin1", at, at + bytes.length) === bytes;
  if (starts("\x89PNG\r\n\x1a\n")) return "image/png";
  if (starts("\xff\xd8\xff")) return "image/jpeg";
  if (starts("GIF87a") || starts("GIF89a")) return "image/gif";
  if (starts("RIFF") && starts("WEBP", 8)) return "image/webp";
  return undefined;
}
