/** A secret within a segment. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}
