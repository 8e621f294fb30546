import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openAppendOnly } from '../../../../local/journal/appendOnly.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-journal-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('says of a closed file that it is closed, and leaves it as it is', () => {
  const path = join(folder, 'a.journal');
  const file = openAppendOnly(path, ['first']);
  file.append(['second']);
  file.close();
  expect(() => {
    file.append(['third']);
  }).toThrow(`${path} is closed: nothing more can be kept in it.`);
  expect(readFileSync(path, 'utf8')).toBe('"first"\n"second"\n');
});
