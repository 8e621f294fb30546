/** Submissions of workflow clients, in the service's form. */
import { canonicalize } from '../../lambdas/request/dialect.ts';
import { parsePublishOptions, type PublishOptions } from '../../lambdas/request/publishOptions.ts';
import { newAccount } from '../../lambdas/account/account.ts';
import { scoped, type Config } from '../../lambdas/shared/config.ts';
import type { Header } from '../../lambdas/shared/headers.ts';
import type { Message } from '../../lambdas/message/message.ts';
import { ordinaryConfig } from '../../lambdas/workflow/steps/ordinaryConfig.ts';
import { readWorkflowMessage, type WorkflowMessage } from '../../lambdas/workflow/rules/workflowMessage.ts';

export const prefixes = ['Svc', 'Upstash'];
const account = newAccount({ id: 'account', plan: 'paid', region: 'eu-central-1', createdAt: 0 });
const rules = {
  allowed: { hosts: new Set<string>(), networks: [] },
  own: new Set<string>(),
  arns: { deployment: [], account: [] },
};

export interface Submitted {
  readonly destination: string;
  readonly message: WorkflowMessage;
  readonly config: Config;
  readonly options: PublishOptions;
  readonly body: Buffer;
}

/** Parses headers with the rules of workflows, and then with those of ordinary messages. */
export function readSubmitted(headers: readonly Header[]): Omit<Submitted, 'destination' | 'body'> {
  const canonical = canonicalize(
    headers.map(([name, value]) => [name.toLowerCase(), value]),
    [],
    prefixes,
  );
  const message = readWorkflowMessage(canonical, prefixes);
  if (message === undefined) throw new Error('It is no message of a workflow.');
  const isCall = message.kind === 'call';
  const ordinary = { ...canonical, config: ordinaryConfig(canonical.config, isCall, prefixes) };
  const options = parsePublishOptions(ordinary, account, rules, Date.now());
  return { message, config: canonical.config, options };
}

/** Makes a message of the service from a delivery. */
export const messageOf = ({ url, headers }: Pick<Message, 'url' | 'headers'>): Message => ({
  messageId: 'msg_failed',
  accountId: 'account',
  prefix: 'Upstash',
  url,
  method: 'POST',
  headers,
  maxRetries: 0,
  timeoutMs: 30_000,
  labels: [],
  createdAt: 0,
  notBefore: 0,
  callerIp: '192.0.2.1',
  expiresAt: 0,
});

export const forwarded = (config: Config): readonly Header[] =>
  [...scoped(config, 'forward')].flatMap(([name, values]) => values.map((value): Header => [name, value]));
