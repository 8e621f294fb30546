import { type Check, expectThat, Skipped } from '../../check.ts';
import { until } from '../../wait.ts';
import { deleteAccount, makeMovingAccount, moveAccount } from '../accounts.ts';
import { bearer } from '../api.ts';
import type { After } from '../context.ts';
import { shown } from './answerChecks.ts';

/** A change may take this many times `--wait`, because APIs cache an account for up to a minute. */
const followWaits = 2;

export const regionChecks: readonly Check<After>[] = [
  {
    name: 'account-change',
    shows: 'a change of an account reaches the other region',
    remedy:
      'Look at the queue <name>-account-changes and the function FollowAccount of both regions, and whether the table <name>-accounts has its replica.',
    run: async ({ api, management, others, region, timeout }) => {
      const [other] = others;
      if (management === undefined) throw new Skipped('accounts are changed in the first region');
      if (other === undefined) throw new Skipped('the deployment has one region');
      const account = await makeMovingAccount(management.client, region);
      try {
        const authorization = bearer(account.token);
        const ask = () => other.send('GET', '/v2/keys', { authorization });
        const before = await ask();
        expectThat(
          before.status === 401,
          `${other.region} answered the token of an account of ${region} ${shown(before)}.`,
        );
        await moveAccount(management.client, account, other.region);
        const movedAt = Date.now();
        let last = before;
        await until(
          async () => {
            last = await ask();
            return last.status === 200;
          },
          () => `${other.region} still answers an account that was moved there ${shown(last)}.`,
          { ...timeout, waitMs: followWaits * timeout.waitMs },
        );
        const seconds = Math.round((Date.now() - movedAt) / 1_000);
        await until(
          async () => {
            last = await api.send('GET', '/v2/keys', { authorization });
            return last.status === 401;
          },
          () => `${region} still answers an account that was moved away ${shown(last)}.`,
          { ...timeout, waitMs: followWaits * timeout.waitMs },
        );
        return `${other.region} served an account ${seconds} s after it was moved there, and ${region} no longer`;
      } finally {
        await deleteAccount(management.client, account);
      }
    },
  },
];
