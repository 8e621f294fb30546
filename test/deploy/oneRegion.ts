/** A deployment of one region to an emulator, with an account and a receiver. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { type Inbox, startReceiver, type Receiver } from '../support/receiver.ts';
import { type Cdk, openCdk } from './cdk.ts';
import { type Api, apiAt, openFront } from './front.ts';
import { findManagement } from './management.ts';
import { type Running, withEmulator } from './withEmulator.ts';

export const region = 'eu-central-1';

export const json = { 'content-type': 'application/json' };

const url = z.url().transform((text) => new URL(text));
const outputsShape = z.object({
  [`Svc-${region}-Service`]: z.object({ Url: url, ApiUrl: z.optional(url) }).optional(),
  'Svc-Management': z.object({ ManagementUrl: url, ManagementSecret: z.string() }).optional(),
});

const published = z.object({ messageId: z.string() });

/** Sends a request with the account’s token, and returns the answer’s JSON. @throws Error for a status other than 2XX */
export type Call = (
  method: string,
  path: string,
  headers?: Readonly<Record<string, string>>,
  body?: string,
) => Promise<unknown>;

export interface OneRegion extends Pick<Running, 'awsUrl' | 'scratch' | 'say'> {
  readonly cdk: Cdk;
  readonly receiver: Receiver;
  readonly call: Call;
  /** Publishes a message. @returns its id */
  readonly publish: (to: string, body: string, delaySeconds: number) => Promise<string>;
  /**
   * Deploys.
   *
   * @param name the name of the deployment, for the output
   * @param source see {@link Cdk.deploy}
   * @param settings additional settings
   */
  readonly deploy: (
    name: string,
    source?: string,
    settings?: Readonly<Record<string, string>>,
  ) => Promise<void>;
  /** Goes back a release as docs/deploy.md describes: deploys the previous release without its state. */
  readonly goBack: (name: string, source: string) => Promise<void>;
}

/** Messages in a paused queue. */
export interface PausedLine {
  /** Resumes the queue and waits for its messages. @throws Error if they arrive in another order */
  readonly resume: () => Promise<void>;
  readonly inbox: Inbox;
}

export async function pauseLine(call: Call, receiver: Receiver): Promise<PausedLine> {
  const inbox = receiver.inbox();
  const bodies = ['first', 'second', 'third'];
  await call('POST', '/v2/queues', json, JSON.stringify({ queueName: 'line', parallelism: 1 }));
  await call('POST', '/v2/queues/line/pause');
  for (const body of bodies) await call('POST', `/v2/enqueue/line/${inbox.url}`, {}, body);
  return {
    inbox,
    resume: async () => {
      await call('POST', '/v2/queues/line/resume');
      const order = (await inbox.received(bodies.length)).map(({ body }) => body.toString()).join();
      if (order !== bodies.join()) throw new Error(`The order of the queue was ${order}.`);
    },
  };
}

function callerOf(base: string, authorization: string): Call {
  return async (method, path, headers = {}, body) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { authorization, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${method} ${path} was answered ${response.status.toString()}: ${text}`);
    const answer: unknown = text === '' ? undefined : JSON.parse(text);
    return answer;
  };
}

/** The setting that leaves out what the emulator cannot make. An old release has neither the setting nor these resources. */
function settingsForEmulator(
  source = resolve(import.meta.dirname, '../..'),
): Readonly<Record<string, string>> {
  const settings = readFileSync(join(source, 'lib/settings.ts'), 'utf8');
  return settings.includes('forEmulator') ? { forEmulator: 'true' } : {};
}

/**
 * Starts an emulator, deploys one region to it and makes an account.
 *
 * @param first the first deployment, see {@link OneRegion.deploy}
 */
export async function withOneRegion(
  first: (running: Running) => { readonly name: string; readonly source?: string },
  use: (region: OneRegion) => Promise<void>,
): Promise<void> {
  await withEmulator(async (running) => {
    const { port, awsUrl, scratch, say } = running;
    const { name, source } = first(running);
    const apis = new Map<'messaging' | 'management', Api>();
    const messaging = await openFront(port, () => apis.get('messaging'));
    const managing = await openFront(port, () => apis.get('management'));
    const receiver = await startReceiver();
    const cdkWith = (settings: Readonly<Record<string, string>>): Cdk =>
      openCdk({
        scratch,
        endpoint: awsUrl,
        context: {
          regions: region,
          retain: 'false',
          // See `run.ts` for these.
          scheduleGroup: 'default',
          clientPatience: '10',
          allowedDestinations: '127.0.0.0/8',
          ownHosts: [messaging, managing].map(({ url: front }) => new URL(front).host).join(','),
          ...settings,
        },
      });
    // The emulator may replace an API instead of changing it, which changes its URL: see `ministack_imports.py`.
    const noteUrls = (given: unknown): string | undefined => {
      const { [`Svc-${region}-Service`]: service, 'Svc-Management': management } = outputsShape.parse(given);
      if (service !== undefined) apis.set('messaging', apiAt(service.ApiUrl ?? service.Url));
      if (management !== undefined) apis.set('management', apiAt(management.ManagementUrl));
      return management?.ManagementSecret;
    };
    const deploy = async (what: string, from?: string, settings = {}): Promise<string> => {
      const known = { ...settingsForEmulator(from), ...settings };
      const secret = noteUrls(await cdkWith(known).deploy(from));
      if (secret === undefined) throw new Error(`${what} has no secret for the management API.`);
      say(`${what} is deployed`);
      return secret;
    };
    try {
      const cdk = cdkWith({});
      await cdk.bootstrap([region]);
      const secret = await deploy(name, source);
      const { username, password } = await findManagement(managing.url, {
        endpoint: awsUrl,
        region,
        name: secret,
      });
      const basic = Buffer.from(`${username}:${password}`).toString('base64');
      const manage = callerOf(managing.url, `Basic ${basic}`);
      const made = await manage('POST', '/v2/svc/users', json, JSON.stringify({ type: 'paid', region }));
      const { token } = z.object({ token: z.string() }).parse(made);
      const call = callerOf(messaging.url, `Bearer ${token}`);
      await use({
        awsUrl,
        scratch,
        say,
        cdk,
        receiver,
        call,
        publish: async (to, body, delaySeconds) =>
          published.parse(
            await call(
              'POST',
              `/v2/publish/${to}`,
              // AWS lets replaced functions finish. The emulator kills them, and their jobs return after the visibility
              // timeout: 70 s for timeouts of up to 30 s, otherwise 910 s.
              { 'svc-delay': `${delaySeconds.toString()}s`, 'svc-timeout': '20s' },
              body,
            ),
          ).messageId,
        deploy: async (...deployment) => {
          await deploy(...deployment);
        },
        goBack: async (what, from) => {
          const before = cdkWith(settingsForEmulator(from));
          noteUrls(await before.deploy(from, 'Svc-Management'));
          noteUrls(await before.deploy(from, 'Svc-*-Service'));
          say(`${what} is deployed`);
        },
      });
    } finally {
      await Promise.all([messaging.close(), managing.close(), receiver.close()]);
    }
  });
}
