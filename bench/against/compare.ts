/** Measures the local stage and its rivals in turns, with the same work. Only ratios from one run are comparable. */
import { startStage } from '../../test/support/stage.ts';
import { BenchError } from '../benchError.ts';
import { bundleStage } from '../bundledStage.ts';
import { makeStageAccount } from '../stageClient.ts';
import { bodyBytes, startDestination, type Destination } from './destination.ts';
import { measureLoad, type Load } from './load.ts';
import { printGoals, printSpeeds, type Measurements, type Round } from './print.ts';
import type { Contender, Start } from './contender.ts';
import { type RivalName, rivals } from './rivals.ts';
import { together } from './together.ts';

/** Odd, so that there is a median. */
const rounds = 3;
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

const startOwn: Start = (destination) =>
  together(async (add) => {
    const stage = await startStage({ command: await bundleStage() });
    add({ close: () => stage.remove() });
    return {
      name: 'stage',
      publishUrl: `${stage.url}/v2/publish/${destination}`,
      headers: { authorization: `Bearer ${await makeStageAccount(stage)}` },
      bodyOf: (event) => event,
      pids: [stage.pid],
    };
  });

/**
 * Prints the speed of the stage and its rivals. Rivals that this machine cannot run are skipped.
 *
 * @throws BenchError if no rival is left
 */
export async function compareWithRivals(names: readonly RivalName[]): Promise<void> {
  const running = await together(async (add) => {
    const destination = add(await startDestination());
    const started = new Map<RivalName, Contender>();
    const leftOut: string[] = [];
    // Rivals may fail to install, so they come first.
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
    const stage = add(await startOwn(destination.url));
    const measured = await measureRounds(stage, [...started.values()], destination, leftOut);
    print(measured, started, leftOut);
    return {};
  });
  await running.close();
}

/** Measures all in turns. A rival that fails is left out from then on. */
async function measureRounds(
  stage: Contender,
  others: readonly Contender[],
  destination: Destination,
  leftOut: string[],
): Promise<Measurements> {
  const measured = new Map<Contender, Round[]>([stage, ...others].map((contender) => [contender, []]));
  // The first turn (-1) is a warm-up.
  for (let turn = -1; turn < rounds; turn += 1) {
    for (const contender of rotated([...measured.keys()], turn)) {
      try {
        const round = await measureRound(contender, destination);
        if (turn >= 0) measured.get(contender)?.push(round);
      } catch (error) {
        if (contender === stage || !(error instanceof BenchError)) throw error;
        leftOut.push(`${contender.name} is left out. ${error.message}`);
        measured.delete(contender);
      }
    }
  }
  return { stage, rounds: measured };
}

const rotated = <T>(all: readonly T[], turn: number): readonly T[] => {
  const first = Math.max(turn, 0) % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
};

const measureRound = async (contender: Contender, destination: Destination): Promise<Round> => ({
  sideBySide: await measureLoad(contender, destination, sideBySide),
  oneByOne: await measureLoad(contender, destination, oneByOne),
});

function print(
  measured: Measurements,
  started: ReadonlyMap<RivalName, Contender>,
  leftOut: readonly string[],
): void {
  console.log(
    `${bodyBytes} bytes over HTTP, delivered over HTTP; ${publishersAtOnce} publishers, then one that waits for each arrival; ${rounds} rounds\n`,
  );
  printSpeeds(measured);
  const bullmq = started.get('bullmq');
  if (bullmq !== undefined) printGoals(measured, bullmq);
  if (leftOut.length > 0) console.log(`\n${leftOut.join('\n')}`);
}
