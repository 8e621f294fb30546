import type { MiddlewareStack } from '@smithy/types';
import { makeUnder, type Fate } from './faults.ts';

/** Records the AWS calls of one process, which may die at one of them. */
export function watchedCalls() {
  const calls: string[] = [];
  let fate: Fate | undefined;
  return {
    watch: <Input extends object, Output extends object>({
      middlewareStack,
    }: {
      readonly middlewareStack: MiddlewareStack<Input, Output>;
    }): void => {
      middlewareStack.add(
        (next, { commandName = '' }) =>
          (args) => {
            calls.push(commandName.replace('Command', ''));
            return makeUnder(fate, commandName, () => next(args));
          },
        { step: 'initialize', name: 'watchedCalls' },
      );
    },
    /** Gives the process a fate. */
    setFate: (next: Fate | undefined): void => {
      fate = next;
    },
    callsOf: async (work: () => Promise<unknown>): Promise<readonly string[]> => {
      calls.length = 0;
      await work();
      return [...calls];
    },
  };
}
