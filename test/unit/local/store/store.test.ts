import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Store } from '../../../../local/store/store.ts';

it('waits for earlier writes although others go on writing', async () => {
  const store = new Store(undefined);
  const most = 50;
  const values: Buffer[] = [];
  const goOn = (): void => {
    if (values.length === most) return;
    const value = Buffer.from([values.length]);
    values.push(value);
    void store.change((write) => {
      write(Buffer.from('key'), value);
    }, goOn);
  };
  goOn();
  await setImmediate();
  await store.committed();
  expect(values.length).toBeLessThan(most);
  while (values.length < most) await setImmediate();
  await store.close();
});
