/**
 * A stage with several processes. The primary holds the data directory and the ports, and starts the members,
 * which do all the work. If a member ends, another takes over its messages, and a new one replaces it.
 *
 * If the primary is killed, all members end at once.
 */
import { fork as forkProcess, type ChildProcess } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { listenAt } from '../http.ts';
import { openDataDirectory } from '../stage/dataDirectory.ts';
import type { Options } from '../stage/options.ts';
import { StageError } from '../stage/stageError.ts';
import { ownersIn, type Owner } from '../sqs/storedMessages.ts';
import type { FrontName } from '../stage/share.ts';
import { memberVariable, toPrimary, type ToMember, type ToPrimary } from './protocol.ts';
import { pending } from '../pending.ts';
import type { ParkedJobs } from '../sqs/redrive.ts';

interface PrimaryOptions extends Pick<Options, 'port' | 'publishPort' | 'network' | 'processes'> {
  readonly dataDirectory: string;
  readonly announce: (sentence: string) => void;
  readonly report: (error: unknown) => void;
}

type Ready = Extract<ToPrimary, { kind: 'ready' }>;

interface Member {
  readonly child: ChildProcess;
  /** The owners of its messages, its own number first. */
  readonly owners: Owner[];
  readonly startedAt: number;
  leads: boolean;
  isReady: boolean;
  /** Whether it is to replace a member that still works. If it cannot start, it is given up. */
  isTrial: boolean;
  isStopping: boolean;
  /** @throws StageError if the member cannot start */
  readonly ready: Promise<Ready>;
  readonly resigned: Promise<void>;
  readonly ended: Promise<void>;
  readonly passed: Map<number, Connection>;
  readonly asked: ((jobs: ParkedJobs) => void)[];
}

interface Left extends Pick<Member, 'owners' | 'leads'> {
  readonly isAfterKill: boolean;
}

interface Connection {
  readonly socket: Socket;
  readonly front: FrontName;
}

interface Primary {
  readonly url: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Replaces all members, one after another, with new ones that run the program as it is installed now. */
  readonly replaceAll: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** If a member ends soon after its start, the next one starts after this pause. */
const pauseMs = 1_000;

/** @throws StageError if the first member cannot start */
export async function startPrimary(options: PrimaryOptions): Promise<Primary> {
  const { processes, announce, report } = options;
  const data = await openDataDirectory(options.dataDirectory);
  const former = ownersIn(data.store);
  await data.close();
  const members = new Set<Member>();
  const servers: Server[] = [];
  const waiting: Connection[] = [];
  const left: Left[] = [];
  /** The hosts of all members' servers, including members that have ended. */
  const peers = new Set<string>();
  let lastId = 0;
  let lastOwner: Owner = Math.max(processes - 1, ...former);
  let isEnding = false;

  const live = (): Member[] => [...members].filter(({ isStopping }) => !isStopping);
  const leader = (): Member | undefined => [...members].find(({ leads }) => leads);
  const send = (member: Member | undefined, message: ToMember): void => {
    if (member?.child.connected === true) member.child.send(message);
  };
  const shareLock = (): void => {
    data.share([...members].flatMap(({ child }) => child.pid ?? []));
  };

  function fork(owners: Owner[], { isFirst = false, isTrial = false } = {}): Member {
    const env = { ...process.env, [memberVariable]: '1' };
    const child = forkProcess(process.argv[1] ?? '', process.argv.slice(2), { env });
    const [owner = 0, ...adopts] = owners;
    const start = { kind: 'start' as const, owner, adopts, isFirst, ports, peers: [...peers] };
    const resigned = pending();
    const ended = pending();
    const asked: Member['asked'] = [];
    const ready = new Promise<Ready>((resolve, reject) => {
      child.on('error', report);
      child.once('exit', (code: number | null, signal: string | null) => {
        ended.resolve();
        reject(new StageError(`A process of the service ended: ${signal ?? `exit status ${code ?? 1}`}.`));
      });
      child.on('message', (received: unknown) => {
        const message = toPrimary.parse(received);
        if (message.kind === 'listening') send(member, start);
        else if (message.kind === 'ready') resolve(message);
        else if (message.kind === 'failed') reject(new StageError(message.message));
        else if (message.kind === 'taken') taken(member, message.id);
        else if (message.kind === 'resigned') resigned.resolve();
        else if (message.kind === 'redriven') asked.shift()?.(message.jobs);
        else if (message.kind === 'redriveAll') redriveAll(member).catch(report);
        else send(leader(), message);
      });
    });
    const member: Member = {
      ...{ child, owners, ready, asked, passed: new Map<number, Connection>() },
      ...{ leads: isFirst, isReady: false, isTrial, isStopping: false, startedAt: performance.now() },
      resigned: resigned.promise,
      ended: ended.promise,
    };
    ready.then(
      ({ inside }) => {
        member.isReady = true;
        member.isTrial = false;
        for (const host of inside) peers.add(host);
        for (const other of members) send(other, { kind: 'peers', hosts: inside });
      },
      () => undefined,
    );
    members.add(member);
    handOver();
    for (const connection of waiting.splice(0)) pass(connection);
    // Recorded before the member can write, so that the next stage waits for it to end.
    shareLock();
    // If the new member cannot start, its own end is reported.
    member.ended.then(() => follow(member)).catch(() => undefined);
    return member;
  }

  /** Makes another member continue the work of one that has ended. */
  async function follow(member: Member): Promise<void> {
    members.delete(member);
    for (const connection of member.passed.values()) pass(connection);
    if (isEnding) return;
    shareLock();
    const { owners, leads, isReady, isTrial, isStopping, startedAt } = member;
    member.leads = false;
    handOver({ owners, leads, isAfterKill: !isStopping });
    if (isStopping || isTrial) return;
    if (isReady) report(new StageError('A process of the service has ended; others do its work.'));
    else await member.ready.catch(report);
    if (performance.now() - startedAt < pauseMs) await setTimeout(pauseMs);
    if (isEnding) return;
    await fork([next()]).ready;
    announce('A new process of the service works.');
  }

  /** Passes the messages of ended members to another member, if there is one. */
  function handOver(...more: readonly Left[]): void {
    left.push(...more);
    const others = live().toReversed();
    const heir = others.find(({ isReady }) => isReady) ?? others[0];
    if (heir === undefined) return;
    for (const { owners, leads, isAfterKill } of left.splice(0)) {
      heir.owners.push(...owners);
      send(heir, { kind: 'adopt', owners, isAfterKill });
      if (leads) heir.leads = true;
      send(leader(), { kind: leads ? 'lead' : 'readAgain' });
    }
  }

  /** Passes a connection to the next member, or keeps it until a member is there. */
  function pass(connection: Connection): void {
    const ready = live().filter(({ isReady }) => isReady);
    // A member that is starting keeps requests until it is ready.
    const takers = ready.length > 0 ? ready : live();
    const member = takers[lastId % takers.length];
    if (member === undefined) {
      waiting.push(connection);
      return;
    }
    lastId += 1;
    member.passed.set(lastId, connection);
    const message: ToMember = { kind: 'connection', id: lastId, front: connection.front };
    // If the member ends before it has taken the connection, another gets it.
    member.child.send(message, connection.socket, { keepOpen: true }, () => undefined);
  }

  function taken({ passed }: Member, id: number): void {
    passed.get(id)?.socket.destroy();
    passed.delete(id);
  }

  async function accept(front: FrontName, port: number, flag: string): Promise<number> {
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      socket.on('error', () => undefined);
      pass({ socket, front });
    });
    servers.push(server);
    return listenAt(server, { host: options.network.host, port, flag });
  }

  function next(): Owner {
    lastOwner += 1;
    return lastOwner;
  }

  async function redriveAll(asker: Member): Promise<void> {
    const answers = live().map((member) => {
      const answer = new Promise<ParkedJobs>((resolve) => member.asked.push(resolve));
      send(member, { kind: 'redrive' });
      return Promise.race([answer, member.ended]);
    });
    const jobs = (await Promise.all(answers)).filter((answer) => answer !== undefined);
    send(asker, { kind: 'redriven', jobs });
  }

  async function replace(old: Member): Promise<void> {
    const fresh = fork([next()], { isTrial: true });
    await fresh.ready;
    // If the old member has ended since, it was already replaced, and the fresh one is not needed.
    const surplus = members.has(old) ? old : fresh;
    surplus.isStopping = true;
    send(surplus, { kind: 'stop', isReplaced: true });
    await Promise.race([surplus.resigned, surplus.ended]);
    if (surplus.leads) {
      surplus.leads = false;
      handOver({ owners: [], leads: true, isAfterKill: false });
    }
    await surplus.ended;
  }

  async function replaceAll(): Promise<void> {
    for (const old of live()) {
      // The member may have ended since.
      if (members.has(old) && !isEnding) await replace(old);
    }
    announce('Each process of the service was replaced by a new one.');
  }

  async function stop(): Promise<void> {
    isEnding = true;
    for (const server of servers) server.close();
    for (const member of members) send(member, { kind: 'stop', isReplaced: false });
    await Promise.all([...members].map(({ ended }) => ended));
    await data.release();
  }

  const ports = await acceptAll().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const first = fork(shareOf(0), { isFirst: true });
  const { url, variables } = await first.ready.catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const others = Array.from({ length: processes - 1 }, (_, index) => fork(shareOf(index + 1)));
  await Promise.allSettled(others.map(({ ready }) => ready));
  let replacing = Promise.resolve();
  return {
    url,
    variables,
    replaceAll: () => {
      replacing = replacing.then(replaceAll).catch(report);
      return replacing;
    },
    stop,
  };

  async function acceptAll(): Promise<Extract<ToMember, { kind: 'start' }>['ports']> {
    const { port, publishPort } = options;
    const api = await accept('api', port, '--port');
    if (publishPort === undefined) return { api };
    return { api, publish: await accept('publish', publishPort, '--publish-port') };
  }

  /** A number for a new member, and the messages of earlier processes that it takes over. */
  function shareOf(number: number): Owner[] {
    return [number, ...former.filter((owner) => owner >= processes && owner % processes === number)];
  }
}
