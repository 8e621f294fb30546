import { afterAll, beforeAll } from 'vitest';
import { startReceiver, type Receiver } from './receiver.ts';

export function useReceiver(): Receiver {
  let started: Receiver | undefined;
  beforeAll(async () => {
    started = await startReceiver();
  });
  afterAll(() => started?.close());
  const receiver = (): Receiver => {
    if (started === undefined) throw new Error('The receiver has not started.');
    return started;
  };
  return {
    get origin() {
      return receiver().origin;
    },
    inbox: (answer) => receiver().inbox(answer),
    close: () => receiver().close(),
  };
}
