/** The cells of a UTF-16 unit in every terminal. 0 where terminals disagree, for marks, and for control characters. */
export function certainWidth(code: number): 0 | 1 | 2 {
  if (code >= 0x20 && code <= 0x7e) return 1;
  const isLatin = code >= 0xc0 && code <= 0x2af;
  const isGreekOrCyrillic = (code >= 0x386 && code <= 0x481) || (code >= 0x48a && code <= 0x52f);
  if (isLatin || isGreekOrCyrillic) return 1;
  const isKana = (code >= 0x3041 && code <= 0x3096) || (code >= 0x30a1 && code <= 0x30fa);
  return isKana || (code >= 0x4e00 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3) ? 2 : 0;
}
