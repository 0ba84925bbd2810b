/** Counts how often other work of the process has its turn while this work is done. */
export async function turnsDuring(work: () => Promise<unknown>, onTurn = () => {}): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    onTurn();
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}
