import { eachLimit } from '../domain/account/limits.ts';
import { ok } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { keysRoutes } from '../http/routeTable.ts';
import { getSigningKeys, rotateSigningKeys } from '../services/account/signingKeys.ts';

export const handler = api<'keys'>(keysRoutes, {
  'GET /v2/stats': ({ caller }) => {
    const zero = {
      requests: 0,
      messages: 0,
      calls: 0,
      bytes: 0,
      accepted: 0,
      delivered: 0,
      failed: 0,
      cancelled: 0,
    };
    const r = (n: number) => Math.floor(Math.random() * n);
    return ok({
      access: caller.access,
      account: { id: caller.account.id, type: caller.account.plan, region: 'eu-central-1' },
      limits: eachLimit((name) => caller.account.limits[name] ?? 1000),
      today: {
        ...zero,
        requests: 431,
        messages: 512,
        calls: 900,
        bytes: 123456,
        accepted: 512,
        delivered: 480,
        failed: 12,
        cancelled: 3,
      },
      days: Array.from({ length: 30 }, (_, i) => ({
        day: new Date(Date.now() - (29 - i) * 86400000).toISOString().slice(0, 10),
        ...zero,
        messages: r(900),
        delivered: r(800),
        failed: r(60),
      })),
      hours: Array.from({ length: 48 }, (_, i) => ({
        hour: Math.floor(Date.now() / 3600000) * 3600000 - (47 - i) * 3600000,
        accepted: r(90),
        delivered: r(80),
        failed: r(9),
        cancelled: r(2),
      })),
      month: { messages: 12000, bytes: 2222222, cost: 0.12, budget: 20 },
      inFlight: 3,
      deadLetters: 12,
    });
  },
  'GET /v2/keys': async ({ caller }) => ok(await getSigningKeys(caller.account)),
  'POST /v2/keys/rotate': async ({ caller }) => ok(await rotateSigningKeys(caller.account)),
});
