import type { LambdaFunction } from './lambda.ts';

/**
 * Limits a function's concurrent calls. Others wait in order. Without a limit, many publishes would take up
 * the process. Messages would be accepted faster than they are delivered, and waiting in lines makes them
 * more expensive.
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
    // The next waiting call takes the place.
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
