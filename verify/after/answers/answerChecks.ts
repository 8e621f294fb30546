import { randomBytes } from 'node:crypto';
import { type Check, expectThat } from '../../check.ts';
import { type Answer, basic, bearer } from '../api.ts';
import type { After } from '../context.ts';

export const shown = ({ status, text }: Answer): string => `${status} ${text.slice(0, 200)}`;

/** API Gateway renames this header in the answers of functions, but not in its own. */
const challengeOf = ({ headers }: Answer): string =>
  headers.get('www-authenticate') ?? headers.get('x-amzn-remapped-www-authenticate') ?? '';

export const isRefusal = ({ text }: Answer): boolean => /^\{"error":"/.test(text);

const megabyte = 1_024 * 1_024;

/** More than API Gateway passes on to a function, and more than its own 10 MB ("Quotas for REST APIs"). */
const tooLarge = [7, 11];

export const answerChecks: readonly Check<After>[] = [
  {
    name: 'answers',
    shows: 'refusals have their status, an error as JSON, and WWW-Authenticate or Allow',
    remedy:
      'svc-queue drift shows a changed API; svc-queue deploy -- --revert-drift repairs it. A changed API needs a new deployment of its stage.',
    run: async ({ api, management, account }) => {
      const missing = await api.send('GET', '/v2/messages');
      expectThat(
        missing.status === 401 && isRefusal(missing) && challengeOf(missing).startsWith('Bearer'),
        `A request without a token was answered ${shown(missing)} with the challenge "${challengeOf(missing)}".`,
      );
      const nowhere = await api.send('GET', '/v2/nowhere');
      expectThat(
        nowhere.status === 404 && isRefusal(nowhere),
        `A path that does not exist was answered ${shown(nowhere)}.`,
      );
      // On an unknown path, the gateway takes a token for an AWS signature, and answers differently.
      const nowhereWithToken = await api.send('GET', '/v2/nowhere', { authorization: bearer(account.token) });
      expectThat(
        nowhereWithToken.status === 404 && isRefusal(nowhereWithToken),
        `With a token, a path that does not exist was answered ${shown(nowhereWithToken)}.`,
      );
      // If the body is not JSON, the gateway answers without Allow.
      const wrongMethod = await api.send('PUT', '/v2/queues');
      expectThat(
        wrongMethod.status === 405 && (wrongMethod.headers.get('allow') ?? '').includes('GET'),
        `A method that a path does not have was answered ${shown(wrongMethod)}, with the header Allow: ${String(wrongMethod.headers.get('allow'))}.`,
      );
      if (management === undefined) return '401, 404 and 405 as they have to be';
      const wrongPassword = await management.send('GET', '/v2/svc/users', {
        authorization: basic('admin', randomBytes(12).toString('hex')),
      });
      expectThat(
        wrongPassword.status === 401 && challengeOf(wrongPassword).startsWith('Basic'),
        `The management API answered a wrong password with ${shown(wrongPassword)} and the challenge "${challengeOf(wrongPassword)}".`,
      );
      return '401 of both APIs, 404 and 405 as they have to be';
    },
  },
  {
    name: 'regions',
    shows: 'the region serves its own accounts, and the others refuse them',
    remedy:
      'Compare the secret <name>/master of all regions: it is one secret with replicas. The table <name>-accounts has to have a replica in each region.',
    run: async ({ api, others, account, region }) => {
      const health = await api.send('GET', '/v2/health');
      expectThat(health.status === 200, `GET /v2/health was answered ${shown(health)}.`);
      const authorization = bearer(account.token);
      const home = await api.send('GET', '/v2/keys', { authorization });
      expectThat(home.status === 200, `The token of an account of ${region} was answered ${shown(home)}.`);
      for (const other of others) {
        const refused = await other.send('GET', '/v2/keys', { authorization });
        expectThat(
          refused.status === 401 && refused.text.includes(region),
          `${other.region} answered the token of an account of ${region} with ${shown(refused)}, and not with 401 and the name of its region.`,
        );
      }
      return others.length === 0
        ? 'it answers'
        : `it answers; ${others.map((other) => other.region).join(', ')} sends its accounts here`;
    },
  },
  {
    name: 'too-large',
    shows: 'messages of 7 and 11 MB are refused with 413',
    remedy: 'Look at the gateway responses of the API: svc-queue drift.',
    run: async ({ api: { client }, inbox }) => {
      for (const size of tooLarge) {
        const answer = await client.send('POST', `/v2/publish/${inbox('ok').url}`, {
          body: 'x'.repeat(size * megabyte),
          headers: { 'content-type': 'text/plain' },
        });
        expectThat(answer.status === 413 && isRefusal(answer), `${size} MB were answered ${shown(answer)}.`);
      }
      return `${tooLarge.join(' and ')} MB were refused with 413`;
    },
  },
];
