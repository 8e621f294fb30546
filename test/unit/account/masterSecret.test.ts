import { describe, expect, it } from 'vitest';
import { parseMasterSecret } from '../../../lambdas/account/masterSecret.ts';

const key = 'k'.repeat(32);

describe('the master secret', () => {
  it('ignores fields named like members of every object', () => {
    for (const name of Object.getOwnPropertyNames(Object.prototype)) {
      const foreign = JSON.stringify({ current: key }).replace(
        '}',
        `,${JSON.stringify(name)}:{"previous":"${key}"}}`,
      );
      expect(parseMasterSecret(foreign)).toEqual({ current: key, retired: [] });
      const without = `{${JSON.stringify(name)}:{"current":"${key}"}}`;
      expect(() => parseMasterSecret(without)).toThrow(/must be a text of at least 32 characters/);
    }
  });
});
