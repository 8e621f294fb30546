import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Store } from '../../local/store/store.ts';

/** Opens a store in a folder with what the previous one has on the disk, as after a kill. */
export function nextStore(folder: string): Store {
  const number = readdirSync(folder).filter((name) => name.endsWith('.mdb')).length;
  const file = (at: number): string => join(folder, `${at}.mdb`);
  if (number > 0) copyFileSync(file(number - 1), file(number));
  return new Store(file(number));
}
