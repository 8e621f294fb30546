/** Examples of answers. The compiler checks them against the answers' types. */
import { limitsOf } from '../../../account/account.ts';
import { dayMs } from '../../../shared/clock.ts';
import type { Shown } from './schemas.ts';

export const messageId = 'msg_01KDVDNA00M3A9X2C4D6F8GHJK';
export const dlqId = 'dlq_01KDVDQ8G0N7B2Y5V8W1Q4RSTA';
export const bulkId = 'blk_01KDVDQ8G0N7B2Y5V8W1Q4RSTA';
export const runId = 'wfr_01KDVDNA5ZQ1T6B9F3H7J0M2NP';
export const accountId = 'f2c0a3a4-6f0e-4c39-9a63-0d6c3a5b7e21';

/** 2026-01-01. */
export const start = 1_767_225_600_000;

const settings = {
  url: 'https://example.com/orders',
  method: 'POST',
  header: { 'Content-Type': ['application/json'], 'X-Tenant': ['acme'] },
  maxRetries: 3,
  timeout: 30,
  label: 'nightly',
  labels: ['nightly', 'invoices'],
} as const;

const caller = { callerIP: '203.0.113.7', callerIp: '203.0.113.7' } as const;

export const message: Shown<'Message'> = {
  messageId,
  ...settings,
  retryDelayExpression: 'pow(2, retried) * 1000',
  flowControlKey: 'tenant-7',
  parallelism: 3,
  rate: 10,
  ratePerSecond: 10,
  period: 60,
  ...caller,
  notBefore: start + 90_000,
  createdAt: start,
  callback: 'https://example.com/done',
  body: '{"order":4711}',
  retried: 0,
  nextDeliveryTime: start + 90_000,
};

const { body, ...messageWithoutBody } = message;
const listedMessage: Shown<'ListedMessage'> = { ...messageWithoutBody, state: 'CREATED' };

export const messageInAnyState: Shown<'MessageInAnyState'> = {
  ...listedMessage,
  body,
  callbackIds: [],
};

export const listedDeadLetter: Shown<'ListedDeadLetter'> = {
  messageId,
  ...settings,
  ...caller,
  notBefore: start,
  createdAt: start,
  dlqId,
  retried: 3,
  failedAt: start + 90_000,
  expiresAt: start + 7 * dayMs,
  responseStatus: 503,
  responseHeader: { 'Content-Type': ['text/plain'] },
  responseBody: 'The database is away.',
};

export const deadLetter: Shown<'DeadLetter'> = {
  ...listedDeadLetter,
  body: '{"order":4711}',
};

export const cursor = 'q1Zk0mJx7p2Yw4TnMTc2NzIyNTYwMDAwMC8vbXNnXzAxS0RWREY4MDA';

export const messagePage: Shown<'MessagePage'> = { cursor, messages: [listedMessage] };

export const deadLetterPage: Shown<'DeadLetterPage'> = { cursor, messages: [listedDeadLetter] };

const failed = { firstFailedAt: start, lastFailedAt: start + 60_000 };
export const deadLetterCount: Shown<'DeadLetterCount'> = {
  count: 42,
  groups: [
    { host: 'example.com', responseStatus: 503, count: 40, ...failed },
    { host: 'example.org', responseStatus: 0, count: 2, ...failed },
  ],
  errors: [
    { error: 'Error: order … is not known', count: 40, ...failed },
    { error: 'The host does not resolve.', count: 2, ...failed },
  ],
  labels: [{ label: 'customer-7', count: 31, ...failed }],
  urls: [
    { url: 'https://example.com/hook', count: 40, ...failed },
    { url: 'https://example.org/', count: 2, ...failed },
  ],
};

const subject = { messageId, ...settings, ...caller, createdAt: start } as const;

export const logs: Shown<'LogPage'>['logs'] = [
  { time: start + 640, state: 'DELIVERED', ...subject, retried: 0, responseStatus: 200 },
  { time: start + 510, state: 'ACTIVE', ...subject, retried: 0 },
  { time: start, state: 'CREATED', ...subject, notBefore: start },
];

export const logPage: Shown<'LogPage'> = { cursor, logs };

export const urlGroup: Shown<'UrlGroup'> = {
  name: 'orders',
  createdAt: start,
  updatedAt: start + 60_000,
  endpoints: [
    { url: 'https://example.com/orders', name: 'billing' },
    { url: 'https://example.org/hooks/orders', name: 'audit' },
  ],
  headers: { 'Svc-Retries': ['3'], 'Svc-Header-Forward': ['true'] },
};

export const queue: Shown<'Queue'> = {
  name: 'mail',
  createdAt: start,
  updatedAt: start + 60_000,
  parallelism: 3,
  paused: false,
  lag: 12,
};

export const circuit: Shown<'Circuit'> = {
  host: 'hooks.example.com',
  state: 'open',
  waiting: 128,
  inFlight: 0,
  openedAt: 1767225600000,
  nextProbeAt: 1767225750000,
  failures: 7,
  failedProbes: 2,
  lastStatus: 503,
};

export const hold: Shown<'Hold'> = {
  kind: 'host',
  name: 'hooks.example.com',
  by: 'token',
  since: start,
  reason: 'The receiver is being moved.',
  until: start + 7_200_000,
  waiting: 128,
};

export const flowControl: Shown<'FlowControl'> = {
  flowControlKey: 'tenant-7',
  waitListSize: 12,
  parallelismMax: 3,
  parallelismCount: 3,
  rateMax: 10,
  rateCount: 4,
  ratePeriod: 60,
  ratePeriodStart: start / 1_000,
  isPaused: false,
  isPinnedParallelism: true,
  isPinnedRate: false,
};

export const schedule: Shown<'Schedule'> = {
  scheduleId: 'nightly-report',
  cron: 'CRON_TZ=Europe/Berlin 0 3 * * *',
  cronInWords: 'At 03:00.',
  timezone: 'Europe/Berlin',
  destination: 'https://example.com/reports',
  createdAt: start,
  method: 'POST',
  header: { 'Content-Type': ['application/json'] },
  body: '{"kind":"nightly"}',
  retries: 3,
  timeout: 30,
  ...caller,
  isPaused: false,
  lastScheduleTime: start + 7_200_000,
  nextScheduleTime: start + 93_600_000,
  lastScheduleStates: { [messageId]: 'SUCCESS' },
};

export const signingKeys: Shown<'SigningKeys'> = {
  current: 'whsec_b3Jk1nZ5uG7rQ0xVwYt2LhC9sKf4MaD8eP6iUoNqTyE=',
  next: 'whsec_Zc8vR2mX4pJ6hT0yLqW9kB1nF3sG5dA7eUiOoVtYrCw=',
};

const startSeconds = start / 1_000;

const tokenWith = (password: string): string =>
  btoa(JSON.stringify({ UserID: accountId, Password: password }));

export const account: Shown<'Account'> = {
  customer_id: 'ops@example.com',
  id: accountId,
  token: tokenWith('5wEJd1m0kqLr8Zt2Yc7Hs4Vb9Nf6Xp3Ga1Qu0Ki_eTo'),
  read_only_token: tokenWith('o9Rk2Lw7Tn4Ym1Cx8Vb5Zs0Hd3Gf6Jq_Ae1Pu7Iy2Ec'),
  active: true,
  state: 'active',
  last_plan_upgrade_time: startSeconds + 3_600,
  ...limitsOf({ plan: 'paid', limits: { max_topics: 500 } }),
  prod_pack_enabled: false,
  prometheus_enabled: 'false',
  type: 'paid',
  region: 'eu-central-1',
  reserved_type: 'svc_fixed_1m',
  reserved_price: 180,
  created_by: 'ops@example.com',
  creation_time: startSeconds,
  deletion_time: 0,
  budget: 50,
  enterprise: { enabled: false },
  circuit: { enabled: true, failures: 10 },
};

export const namedToken: Shown<'NamedToken'> = {
  id: 'tok_5be1c07a92d34f68',
  name: 'web shop',
  scope: 'publish',
  destinations: ['https://example.com/hooks/', 'orders'],
  made_by: 'operator',
  created_at: startSeconds,
  last_used: '2026-01-01',
};

export const madeToken: Shown<'MadeToken'> = {
  ...namedToken,
  last_used: undefined,
  token: tokenWith(`${namedToken.id}.Lw7Tn4Ym1Cx8Vb5Zs0Hd3Gf6Jq_Ae1Pu7Iy2Ec5wEJd1`),
};

/** The last two days of the statistics. The second is the first day of a month. */
const days = [start - 86_400_000, start].map((time) => new Date(time).toISOString());
const daily = (...values: readonly number[]) => days.map((x, index) => ({ x, y: values[index] ?? 0 }));

export const accountStats: Shown<'AccountStats'> = {
  days: ['Wednesday', 'Thursday'],
  daily_requests: daily(120, 160),
  daily_messages: daily(150, 200),
  daily_calls: daily(131, 172),
  daily_bandwidths: daily(61_440, 81_920),
  daily_billings: daily(0.0015, 0.002),
  total_monthly_requests: 160,
  total_monthly_messages: 200,
  total_monthly_bandwidth: 81_920,
  failed_today: 3,
  waiting: 42,
  counted_at: 1_767_225_600,
  total_monthly_billing: 0.002,
};

const used = { requests: 480, messages: 512, calls: 1_310, bytes: 524_288 } as const;
const ends = { delivered: 489, failed: 6, cancelled: 3 } as const;
const ended = { accepted: 512, ...ends } as const;
const { type, region, customer_id } = account;

export const ownStats: Shown<'OwnStats'> = {
  access: 'read',
  account: { id: accountId, customer_id, type, region, deployment: 'svc' },
  limits: limitsOf({ plan: type, limits: {} }),
  today: { ...used, ...ended },
  days: [{ day: '2026-01-01', ...used, ...ended }],
  hours: [{ hour: start, ...ended }],
  lastHour: [{ from: start, ...ends }],
  month: { messages: 512, bytes: 524_288, cost: 0.005_12, budget: 20 },
  inFlight: 4,
  deadLetters: 6,
};
