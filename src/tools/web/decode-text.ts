/** Decodes bytes with the encoding that the page, its server or its first bytes declare, in the order that browsers use. */

/** The characters from 0x80 to 0x9f. */
const WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

export function decodeText(bytes: Uint8Array, contentType: string): string {
  const named = byteOrderMark(bytes) ?? charsetOf(contentType) ?? declared(bytes);
  const decoder = named === undefined ? undefined : decoderFor(named);
  if (decoder !== undefined) return decodeAll(decoder, bytes);
  try {
    // Decodes as a stream, because a cut body may end within a character.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return decodeAll(new TextDecoder("windows-1252"), bytes);
  }
}

/** Some versions of Node read windows-1252 as Latin-1, which has control characters where the quotes are. */
function decodeAll(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  if (decoder.encoding !== "windows-1252") return text;
  return text.replace(/[\x80-\x9f]/g, (character) => WINDOWS_1252.charAt(character.charCodeAt(0) - 0x80));
}

function byteOrderMark([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return a === 0xfe && b === 0xff ? "utf-16be" : undefined;
}

function charsetOf(contentType: string): string | undefined {
  return /;\s{0,9}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(contentType)?.[1];
}

/** Sets how far into a page the encoding may be declared. */
const DECLARATION_BYTES = 1024;

function declared(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, DECLARATION_BYTES)).toString(
    "latin1",
  );
  const name =
    /<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(head)?.[1] ??
    /^\s{0,9}<\?xml[^>]{0,100}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})/i.exec(head)?.[1];
  // A declaration that is readable here shows that the text is not UTF-16.
  return name !== undefined && /^utf-?16/i.test(name) ? "utf-8" : name;
}

function decoderFor(name: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(name);
  } catch {
    return undefined;
  }
}
