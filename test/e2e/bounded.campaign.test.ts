import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { service } from '../support/publish.ts';
import { startReceiver } from '../support/receiver.ts';
import { startStage } from '../support/stage.ts';

const dayMs = 86_400_000;
const days = 24;
const messagesADay = 100;

function bytesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    return sum + (found?.isFile() === true ? found.size : 0);
  }, 0);
}

describe.runIf(service.target === 'local')('the data of a stage', () => {
  it('do not grow if as much expires each day as is added', async () => {
    const receiver = await startReceiver();
    const stage = await startStage({ testControl: true });
    const { url, token, dataDir } = stage;
    const inbox = receiver.inbox();
    const batch = async (): Promise<void> => {
      const items = Array.from({ length: messagesADay }, (_, at) => ({
        destination: inbox.url,
        // One in fifty has its body in a file.
        body: 'x'.repeat(at % 50 === 0 ? 20_000 : 500),
      }));
      const response = await fetch(`${url}/v2/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(items),
      });
      expect(response.status).toBe(200);
    };
    const sizes: number[] = [];
    try {
      for (let day = 0; day < days; day += 1) {
        await batch();
        await inbox.until(({ length }) => length >= (day + 1) * messagesADay);
        await stage.advance(dayMs);
        await stage.expire();
        sizes.push(bytesOf(dataDir));
      }
      const full = sizes[16] ?? 0;
      expect(sizes[3]).toBeLessThan(full);
      expect(sizes.at(-1)).toBeLessThan(full * 1.1 + 2 ** 20);
    } finally {
      await stage.remove();
      await receiver.close();
    }
  });
});
