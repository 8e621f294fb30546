import type { LambdaFunction } from './lambda.ts';

/**
 * Limits the calls of a function that run at once; other calls wait for their turn, first come, first served. On AWS each invocation
 * has its own process. Here all share one: without this limit many publishers would have most of it, and messages
 * would be accepted faster than delivered, wait in lines, and cost more there.
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
    // The next caller takes over the turn that ends.
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
