import type { LambdaFunction } from './lambda.ts';

/**
 * Lets a function run so many times at once; whatever else calls it waits for its turn, first come, first served. On AWS each
 * invocation has a process of its own. Here all share one, and without turns many publishers would have most of it: messages would
 * be accepted faster than delivered, wait in lines, and cost more there.
 */
export function inTurns(called: LambdaFunction, most: number): LambdaFunction {
  const waiting: (() => void)[] = [];
  let running = 0;
  const turn = (): Promise<void> | undefined => {
    if (running < most) {
      running += 1;
      return undefined;
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
  const next = (): void => {
    const start = waiting.shift();
    // Whoever is next takes over the turn that ends.
    if (start === undefined) running -= 1;
    else start();
  };
  return {
    name: called.name,
    invoke: async (event) => {
      await turn();
      try {
        return await called.invoke(event);
      } finally {
        next();
      }
    },
  };
}
