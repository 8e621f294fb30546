/**
 * A process that writes groups to a store, several at a time, and marks each that is on the disk. Arguments: the file, a seed,
 * and the number of groups.
 */
import { openSync, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Store } from '../../../local/store/store.ts';
import { randomOf } from '../simulatedClock.ts';
import { groupOf } from './load.ts';

const [file = '', seedText = '', countText = ''] = process.argv.slice(2);
const [seed, count] = [Number(seedText), Number(countText)];
const marks = openSync(process.env['SVC_WRITE_MARKS'] ?? '', 'w');
const store = new Store(file);
const random = randomOf(seed);
let next = 0;

async function writeGroups(): Promise<void> {
  while (next < count) {
    const number = next;
    next += 1;
    for (const { key, value } of groupOf(seed, number)) store.write(key, value);
    await store.committed();
    writeSync(marks, String(number));
    if (random() < 0.5) await setTimeout(random() * 4);
  }
}

await Promise.all(Array.from({ length: 6 }, writeGroups));
await store.close();
