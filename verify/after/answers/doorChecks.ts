import { randomBytes } from 'node:crypto';
import { valuesIn } from '../../../lib/regional.ts';
import { type Check, expectThat, Skipped } from '../../check.ts';
import { deliver, deliverBytes, strange } from '../acts.ts';
import { bearer, type Client } from '../api.ts';
import type { After } from '../context.ts';
import { isRefusal, shown } from './answerChecks.ts';

const megabyte = 1_024 * 1_024;

/** Bytes of a request's head. The limit is 10,240, as in API Gateway ("Quotas for REST APIs"). */
const heads = { taken: 9_000, refused: 11_000 };

const urlOf = ({ publishUrl }: After): Client => {
  if (publishUrl === undefined) throw new Skipped('the setting publishUrl is off');
  return publishUrl;
};

const remedy =
  'Look at the URL of the function Publish and at its two permissions for everybody: docs/network.md.';

export const doorChecks: readonly Check<After>[] = [
  {
    name: 'publish-url',
    shows: 'the publish URL takes a message, and the path of its destination arrives byte for byte',
    remedy,
    run: async (after) => {
      const message = { body: 'by the publish URL' };
      const received = await deliver(after, urlOf(after), message, (url) => `${url}${strange.path}`);
      expectThat(received?.text === message.body, `The body arrived as "${String(received?.text)}".`);
      expectThat(received.path === strange.path, `${strange.path} arrived as ${received.path}.`);
      return `a message came through it, and ${strange.path} arrived byte for byte`;
    },
  },
  {
    name: 'publish-url-bytes',
    shows:
      'the query of a destination and a body that is no text arrive byte for byte through the publish URL',
    remedy,
    notOnEmulator:
      'the emulator encodes again the query that a function URL gets, and takes every body for text',
    run: async (after) => {
      const client = urlOf(after);
      const received = await deliver(after, client, { body: 'query' }, (url) =>
        encodeURIComponent(`${url}?${strange.query}`),
      );
      expectThat(
        received?.query === strange.query,
        `${strange.query} arrived as ${String(received?.query)}.`,
      );
      const bytes = randomBytes(256);
      await deliverBytes(after, client, bytes, 'application/octet-stream');
      return `${strange.query} and ${bytes.length} random bytes arrived as they were`;
    },
  },
  {
    name: 'publish-url-sizes',
    shows: 'the publish URL takes 4 MB and a long head, and refuses what is larger',
    remedy,
    run: async (after) => {
      const client = urlOf(after);
      const { url } = after.inbox('ok');
      const plain = (megabytes: number) => ({
        body: 'x'.repeat(megabytes * megabyte),
        headers: { 'content-type': 'text/plain' },
      });
      const withHead = (bytes: number) => ({
        body: 'long',
        headers: { 'svc-forward-long': 'x'.repeat(bytes) },
      });
      const large = await deliver(after, client, plain(4));
      expectThat(large?.bytes === 4 * megabyte, `4 MB were sent, and ${String(large?.bytes)} bytes arrived.`);
      // Lambda's limit is 6 MB. It answers 413 with its own text ("Lambda quotas").
      const tooLarge = await client.send('POST', `/v2/publish/${url}`, plain(7));
      expectThat(tooLarge.status === 413, `7 MB were answered ${shown(tooLarge)}.`);
      await deliver(after, client, withHead(heads.taken));
      const tooLong = await client.send('POST', `/v2/publish/${url}`, withHead(heads.refused));
      expectThat(
        tooLong.status === 431 && isRefusal(tooLong),
        `A head of more than 10,240 bytes was answered ${shown(tooLong)}.`,
      );
      return '4 MB and a head of 9 KB came through it; 7 MB were refused with 413, a head of 11 KB with 431';
    },
  },
  {
    name: 'publish-url-api',
    shows: 'the publish URL passes other requests on to the API, and its answers back',
    remedy: 'The function Publish gets the address of the API in API_URL: svc-queue drift.',
    notOnEmulator: 'its functions do not reach its gateway',
    run: async (after) => {
      const answer = await urlOf(after).send('GET', '/v2/queues/none');
      expectThat(
        answer.status === 404 && isRefusal(answer),
        `A queue that does not exist was answered ${shown(answer)}.`,
      );
      return 'a queue that does not exist was answered 404 by the API';
    },
  },
  {
    name: 'domains',
    shows: 'the custom domains lead to the APIs, with a certificate that is trusted',
    remedy:
      'Point each name to the output DomainTarget of its stack (a CNAME), or set hostedZone; it takes some minutes until resolvers know it: docs/network.md, "Custom domains".',
    notOnEmulator: 'the names of the domains lead to AWS',
    run: async ({ settings, region, management, account, sendTo }) => {
      const [domain] = valuesIn(settings.domains, region);
      const [managementDomain] = management === undefined ? [] : valuesIn(settings.domains, 'management');
      if (domain === undefined && managementDomain === undefined)
        throw new Skipped('the setting domains has none here');
      const seen: string[] = [];
      if (domain !== undefined) {
        const answer = await sendTo(`https://${domain}`)('GET', '/v2/keys', {
          authorization: bearer(account.token),
        });
        expectThat(answer.status === 200, `${domain} answered the account ${shown(answer)}.`);
        seen.push(`${domain} answers the account`);
      }
      if (managementDomain !== undefined) {
        const answer = await sendTo(`https://${managementDomain}`)('GET', '/v2/svc/users');
        expectThat(
          answer.status === 401 && isRefusal(answer),
          `${managementDomain} answered a request without credentials ${shown(answer)}.`,
        );
        seen.push(`${managementDomain} asks for credentials`);
      }
      return seen.join('; ');
    },
  },
];
