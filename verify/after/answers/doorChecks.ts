import { createHash, randomBytes } from 'node:crypto';
import { valuesIn } from '../../../lib/regional.ts';
import { type Check, expectThat, Skipped } from '../../check.ts';
import { bearer, type Client, publish } from '../api.ts';
import type { After } from '../context.ts';
import { isRefusal, shown } from './answerChecks.ts';

const megabyte = 1_024 * 1_024;

/** Bytes of a request's head. The limit is 10,240, as in API Gateway ("Quotas for REST APIs"). */
const heads = { taken: 9_000, refused: 11_000 };

/** Bytes that a proxy might decode, collapse or re-encode. */
const strangePath = '//a%2Fb';
const strangeQuery = 'x=1&x=2+3';

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
      const client = urlOf(after);
      const strange = after.inbox('ok');
      await publish(client, `${strange.url}${strangePath}`, { body: 'by the publish URL' });
      const [received] = await strange.received(1);
      expectThat(received?.text === 'by the publish URL', `The body arrived as "${String(received?.text)}".`);
      expectThat(received.path === strangePath, `${strangePath} arrived as ${received.path}.`);
      return `a message came through it, and ${strangePath} arrived byte for byte`;
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
      const query = after.inbox('ok');
      const destination = `${query.url}?${strangeQuery}`;
      await publish(client, encodeURIComponent(destination), { body: 'query' });
      const [received] = await query.received(1);
      expectThat(received?.query === strangeQuery, `${strangeQuery} arrived as ${String(received?.query)}.`);

      const body = randomBytes(256);
      const binary = after.inbox('ok');
      await publish(client, binary.url, {
        body: new Uint8Array(body),
        headers: { 'content-type': 'application/octet-stream' },
      });
      const [bytes] = await binary.received(1);
      expectThat(
        bytes?.sha256 === createHash('sha256').update(body).digest('hex'),
        `Of ${body.length} bytes ${String(bytes?.bytes)} arrived, and not the same.`,
      );
      return `${strangeQuery} and ${body.length} random bytes arrived as they were`;
    },
  },
  {
    name: 'publish-url-sizes',
    shows: 'the publish URL takes 4 MB and a long head, and refuses what is larger',
    remedy,
    run: async (after) => {
      const client = urlOf(after);
      const large = after.inbox('ok');
      await publish(client, large.url, {
        body: 'x'.repeat(4 * megabyte),
        headers: { 'content-type': 'text/plain' },
      });
      const [received] = await large.received(1);
      expectThat(received?.bytes === 4 * megabyte, `Of 4 MB ${String(received?.bytes)} bytes arrived.`);
      // Lambda's limit is 6 MB. It answers 413 with its own text ("Lambda quotas").
      const tooLarge = await client.send('POST', `/v2/publish/${large.url}`, {
        body: 'x'.repeat(7 * megabyte),
        headers: { 'content-type': 'text/plain' },
      });
      expectThat(tooLarge.status === 413, `7 MB were answered ${shown(tooLarge)}.`);
      const long = after.inbox('ok');
      await publish(client, long.url, {
        body: 'long',
        headers: { 'svc-forward-long': 'x'.repeat(heads.taken) },
      });
      await long.received(1);
      const tooLong = await client.send('POST', `/v2/publish/${long.url}`, {
        body: 'too long',
        headers: { 'svc-forward-long': 'x'.repeat(heads.refused) },
      });
      expectThat(
        tooLong.status === 431 && isRefusal(tooLong),
        `A head of more than 10,240 bytes was answered ${shown(tooLong)}.`,
      );
      return '4 MB and a head of 9 KB came through it; 7 MB were refused with 413, a head of 11 KB with 431';
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
