/** Measures the local stage and its rivals in turns, with the same work. Only ratios from one run are comparable. */
import { availableParallelism } from 'node:os';
import { startStage } from '../../test/support/stage.ts';
import { BenchError } from '../benchError.ts';
import { bundleStage } from '../bundledStage.ts';
import { makeStageAccount } from '../stageClient.ts';
import { bodyBytes, startDestination, type Destination } from './destination.ts';
import { measureLoad, type Load } from './load.ts';
import { printGoals, printSpeeds, type Measurements, type Round, type Title } from './print.ts';
import type { Contender, Start } from './contender.ts';
import { type RivalName, rivals } from './rivals.ts';
import { together } from './together.ts';

/** Odd, so that there is a median. */
const rounds = 3;
/** V8 compiles in the first thousands of messages of each process. */
const warmUps = 3;
/** One for each core. */
const processes = Math.min(availableParallelism(), 8);
const publishersAtOnce = 32;
const publishingSeconds = 5;
const oneAtATime = 201;

const sideBySide: Load = {
  atOnce: publishersAtOnce,
  waitsForArrival: false,
  goesOn: (_, sinceMs) => sinceMs < 1_000 * publishingSeconds,
};
const oneByOne: Load = {
  atOnce: 1,
  waitsForArrival: true,
  goesOn: (published) => published < oneAtATime,
};

const startOwn =
  (name: string, stages: number, processesOfEach: number): Start =>
  (destination) =>
    together(async (add) => {
      const started = async () => {
        const args = ['--processes', String(processesOfEach)];
        const stage = await startStage({ command: await bundleStage(), args });
        add({ close: () => stage.remove() });
        const headers = { authorization: `Bearer ${await makeStageAccount(stage)}` };
        return { pid: stage.pid, door: { publishUrl: `${stage.url}/v2/publish/${destination}`, headers } };
      };
      const first = await started();
      const others = await Promise.all(Array.from({ length: stages - 1 }, started));
      return {
        name,
        doors: [first.door, ...others.map(({ door }) => door)],
        bodyOf: (event) => event,
        pids: [first, ...others].map(({ pid }) => pid),
      };
    });

/** Shows what this machine can do with several processes that share nothing. */
const own = new Map<Title, Start>([['stage', startOwn('stage', 1, 1)]]);
if (processes > 1) {
  own.set('processes', startOwn(`stage, ${processes} processes`, 1, processes));
  own.set('apart', startOwn(`${processes} separate stages`, processes, 1));
}

/**
 * Prints the speed of the stage and its rivals. Rivals that this machine cannot run are skipped.
 *
 * @throws BenchError if no rival is left
 */
export async function compareWithRivals(names: readonly RivalName[]): Promise<void> {
  const running = await together(async (add) => {
    const destination = add(await startDestination());
    const started = new Map<Title, Contender>();
    const leftOut: string[] = [];
    // Rivals are first, because installing them may fail.
    for (const name of names) {
      const { title, start } = rivals[name];
      try {
        started.set(name, add(await start(destination.url)));
      } catch (error) {
        if (!(error instanceof BenchError)) throw error;
        leftOut.push(`${title} is left out. ${error.message}`);
      }
    }
    if (started.size === 0) throw new BenchError(leftOut.join('\n'));
    for (const [title, start] of own) started.set(title, add(await start(destination.url)));
    print(await measureRounds(started, destination, leftOut), leftOut);
    return {};
  });
  await running.close();
}

/** Measures all in turns. A rival that fails is left out from then on. */
async function measureRounds(
  started: ReadonlyMap<Title, Contender>,
  destination: Destination,
  leftOut: string[],
): Promise<Measurements> {
  const measured = new Map(
    [...started].map(([title, { name }]) => [title, { name, rounds: new Array<Round>() }]),
  );
  for (let turn = -warmUps; turn < rounds; turn += 1) {
    for (const title of rotated([...measured.keys()], turn)) {
      const contender = started.get(title);
      if (contender === undefined) continue;
      try {
        const round = await measureRound(contender, destination);
        if (turn >= 0) measured.get(title)?.rounds.push(round);
      } catch (error) {
        if (own.has(title) || !(error instanceof BenchError)) throw error;
        leftOut.push(`${contender.name} is left out. ${error.message}`);
        measured.delete(title);
      }
    }
  }
  return measured;
}

const rotated = <T>(all: readonly T[], turn: number): readonly T[] => {
  const first = Math.max(turn, 0) % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
};

const measureRound = async (contender: Contender, destination: Destination): Promise<Round> => ({
  sideBySide: await measureLoad(contender, destination, sideBySide),
  oneByOne: await measureLoad(contender, destination, oneByOne),
});

function print(measured: Measurements, leftOut: readonly string[]): void {
  console.log(
    `${bodyBytes} bytes over HTTP, delivered over HTTP; ${publishersAtOnce} publishers, then one that waits for each arrival; ${rounds} rounds\n`,
  );
  printSpeeds(measured);
  printGoals(measured);
  if (leftOut.length > 0) console.log(`\n${leftOut.join('\n')}`);
}
