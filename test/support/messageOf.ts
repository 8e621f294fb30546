import type { Message } from '../../lambdas/message/message.ts';

export const messageOf = (more: Partial<Message> = {}): Message => ({
  messageId: 'msg_1',
  accountId: 'acct',
  prefix: 'Svc',
  url: 'https://example.com/',
  method: 'POST',
  headers: [],
  maxRetries: 0,
  timeoutMs: 1_000,
  labels: [],
  createdAt: 0,
  notBefore: 0,
  callerIp: '192.0.2.1',
  expiresAt: 0,
  ...more,
});
