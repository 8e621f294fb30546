/** A malicious client with a separate account: its requests are refused, and other clients are not affected. */
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { beginLargeRequest, wrongJson } from '../support/attacks.ts';
import { Chance } from './chance.ts';
import { ask, askUntilDone, isOk, type ChaosFixture } from './traffic.ts';

const made = z.object({ token: z.string() });

/** Connections that it keeps open, each with a part of a large body. */
const heldConnections = 20;
const heldBytes = 1_048_576;

/** Creates its account: a free one. */
async function tokenOf(fixture: ChaosFixture): Promise<string> {
  const { json } = await askUntilDone(fixture, 'hostile account', '/v2/svc/users', {
    headers: { authorization: fixture.stage.managementAuthorization },
    body: JSON.stringify({ customer_id: 'hostile@example.com', type: 'free' }),
  });
  return made.parse(json).token;
}

/** Sends the first part of a body that never continues. */
function holdOpen(url: string): Socket {
  const socket = beginLargeRequest(url);
  socket.write(Buffer.alloc(heldBytes, 'x'));
  return socket;
}

export async function attack(fixture: ChaosFixture, isOver: () => boolean): Promise<void> {
  const { seed, stage, ledger } = fixture;
  const token = await tokenOf(fixture);
  const chance = new Chance(seed, 'hostile client');
  let held: readonly Socket[] = [];
  while (!isOver()) {
    for (const socket of held) socket.destroy();
    held = Array.from({ length: heldConnections }, () => holdOpen(stage.url));
    const { what, method, path, body } = chance.of(wrongJson);
    const headers = { authorization: `Bearer ${token}` };
    const answer = await ask(fixture, 'hostile', path, { method, headers, body });
    const items = z.array(z.object({ status: z.number() })).safeParse(answer.json).data;
    if (items?.every(({ status }) => status === 400) ?? (answer.status >= 400 && answer.status < 500)) {
      ledger.refusedAttacks += 1;
    } else if (isOk(answer)) {
      ledger.unexpected.push(`hostile, ${what}: ${answer.status} ${JSON.stringify(answer.json)}`);
    }
    await setTimeout(chance.from(500, 3_000));
  }
  for (const socket of held) socket.destroy();
}
