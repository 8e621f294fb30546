import type { LambdaFunction } from './lambda.ts';

/**
 * Limits a function's concurrent calls. Others wait in order. Without it, many publishes would take most of the shared process:
 * messages would be accepted faster than delivered, and waiting in lines makes them more expensive.
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
    // The next waiting call takes over the slot.
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
