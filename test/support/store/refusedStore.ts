/**
 * A process that writes to a store while its disk's calls fail, and prints the outcome of each entry. Arguments: the file, the
 * kind of failure in `writeLog.c`, the error's number, the number of failures, and whether the store is read at the same time.
 */
import { openSync, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { diskSentence } from '../../../local/disk/disk.ts';
import { checkPages } from '../../../local/store/pages.ts';
import { Store } from '../../../local/store/store.ts';
import { everything } from './contents.ts';

const [file = '', way = '', errno = '', times = '', reading = ''] = process.argv.slice(2);
const marks = openSync(process.env['SVC_WRITE_MARKS'] ?? '', 'w');
const store = new Store(file);
const [accepted, refused]: [string[], string[]] = [[], []];
const [reasons, sentences, unhandled] = [new Set<unknown>(), new Set<unknown>(), new Set<string>()];
process.on('unhandledRejection', (error) => unhandled.add(String(error)));
process.on('uncaughtException', (error) => unhandled.add(String(error)));

async function write(): Promise<void> {
  const key = `key ${accepted.length + refused.length}`;
  store.write(Buffer.from(key), Buffer.alloc(3_000, key));
  try {
    await store.committed();
    accepted.push(key);
  } catch (error) {
    refused.push(key);
    reasons.add(error instanceof Error && 'code' in error ? error.code : String(error));
    sentences.add(diskSentence(error, 'here'));
    if (store.get(Buffer.from('key 0')) === undefined) unhandled.add('An entry is missing.');
    await setTimeout(50);
  }
}

while (accepted.length < 5) await write();
const snapshot = reading === '' ? undefined : store.snapshot();
const range = reading === '' ? undefined : store.range({ ...everything, at: snapshot });
range?.next();
writeSync(marks, `fail ${way} ${errno} ${times}`);
const before = accepted.length;
while (refused.length < Number(times)) await write();
const left = range && [...range].length;
snapshot?.done();
while (accepted.length < before + 5) await write();

const isThere = (key: string): boolean =>
  store.get(Buffer.from(key))?.equals(Buffer.alloc(3_000, key)) === true;
const lost = accepted.filter((key) => !isThere(key));
const appeared = refused.filter((key) => store.get(Buffer.from(key)) !== undefined);
await store.close();
const damage = await checkPages(file);
const all = {
  reasons: [...reasons],
  sentences: [...sentences],
  lost,
  appeared,
  left,
  unhandled: [...unhandled],
  damage,
};
process.stdout.write(JSON.stringify(all));
