/** From the rounds of a measurement to its figures. */

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Other work on the machine only adds time, to both programs alike. */
export function lowerQuartile(values) {
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 4)];
}

/** Times by their lower quartile, everything else by its median; `values` keeps the rounds. */
export function rowOf({ name, unit, values, ...traits }) {
  const typical = unit === "ms" ? lowerQuartile : median;
  const [floor, oxbow] = [typical(values.floor), typical(values.oxbow)];
  return { name, unit, values, floor, oxbow, ratio: oxbow / floor, ...traits };
}

/** Two measurements of the same rows as one with the rounds of both. A row without rounds keeps its last figure. */
export function pooled(rows, others) {
  return others.map((other) => {
    const row = rows.find(({ name }) => name === other.name);
    if (row?.values === undefined || other.values === undefined) return other;
    const { floor: _floor, oxbow: _oxbow, ratio: _ratio, ...kept } = other;
    const floor = [...row.values.floor, ...other.values.floor];
    const oxbow = [...row.values.oxbow, ...other.values.oxbow];
    return rowOf({ ...kept, values: { floor, oxbow } });
  });
}
