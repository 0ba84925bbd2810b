/**
 * Vectors in fewer bytes. Cosines need directions only, so a byte for each dimension keeps them to about three digits, and the sign bit alone
 * is enough to find which of many vectors are worth comparing exactly.
 */

/** Of unit length; a vector without a direction stays as it is. */
export function normalized(vector: ArrayLike<number>): Float32Array {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vector[i] as number) ** 2;
  const scale = sum > 0 && Number.isFinite(sum) ? 1 / Math.sqrt(sum) : 0;
  return Float32Array.from(vector, (value) => value * scale);
}

export function toBytes(vector: Float32Array): Uint8Array {
  let most = 0;
  for (const value of vector) most = Math.max(most, Math.abs(value));
  const scale = most > 0 ? 127 / most : 0;
  return new Uint8Array(Int8Array.from(vector, (value) => Math.round(value * scale)).buffer);
}

/** Eight dimensions to a byte, in whole groups of 32. */
export function toBits(vector: Float32Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(vector.length / 32) * 4);
  for (let i = 0; i < vector.length; i++) {
    if ((vector[i] as number) > 0) bits[i >> 3] = (bits[i >> 3] as number) | (1 << (i & 7));
  }
  return bits;
}

/** The cosine of a vector of unit length and one that was stored as bytes. */
export function cosine(query: Float32Array, bytes: Uint8Array): number {
  const stored = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [dot, square] = [0, 0];
  for (let i = 0; i < stored.length; i++) {
    const value = stored[i] as number;
    dot += value * (query[i] as number);
    square += value * value;
  }
  return square === 0 ? 0 : dot / Math.sqrt(square);
}
