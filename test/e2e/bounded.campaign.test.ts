import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { service } from '../support/publish.ts';
import { startReceiver } from '../support/receiver.ts';
import { startStage } from '../support/stage.ts';

const dayMs = 86_400_000;
const days = 24;
/** Higher numbers are more exact: `MESSAGES_A_DAY=10000 npx vitest run --project e2e test/e2e/bounded.test.ts`. */
const messagesADay = Number(process.env['MESSAGES_A_DAY'] ?? 100);

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
      const items = Array.from({ length: Math.min(100, messagesADay) }, (_, at) => ({
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
        const sent = (day + 1) * Math.ceil(messagesADay / 100) * 100;
        for (let at = 0; at < messagesADay; at += 100) await batch();
        await inbox.until(({ length }) => length >= sent);
        await stage.advance(dayMs);
        const deleted = await stage.expire();
        sizes.push(bytesOf(dataDir));
        if (process.env['MESSAGES_A_DAY'] !== undefined) {
          const megabytes = ((sizes.at(-1) ?? 0) / 2 ** 20).toFixed(1);
          process.stdout.write(
            `day ${day + 1}: ${sent} messages, ${deleted} rows deleted, ${megabytes} MB\n`,
          );
        }
      }
      const full = sizes[16] ?? 0;
      expect(sizes[3]).toBeLessThan(full);
      expect(sizes.at(-1)).toBeLessThan(full * 1.1 + 2 ** 20);
      const startedAt = performance.now();
      await stage.kill();
      const again = await startStage({ dataDir, port: Number(new URL(url).port) });
      if (process.env['MESSAGES_A_DAY'] !== undefined) {
        process.stdout.write(`started again in ${Math.round(performance.now() - startedAt)} ms\n`);
      }
      await again.kill();
    } finally {
      await stage.remove();
      await receiver.close();
    }
  });
});
