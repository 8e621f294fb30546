/** `svc-queue start`: the whole service on this machine. */
import { devModeSentence } from '../../local/stage/devMode.ts';
import { parseOptions, type Options } from '../../local/stage/options.ts';
import { startStage, toLines, type Stage } from '../../local/stage/stage.ts';
import { StageError } from '../../local/stage/stageError.ts';

/** Prints an error: its sentence alone when the developer can correct the cause, otherwise with its stack. */
function report(error: unknown): void {
  console.error(error instanceof StageError ? error.message : error);
}

function fail(error: unknown, exitCode: number): never {
  report(error);
  process.exit(exitCode);
}

function announce({ url, variables }: Stage, { dataDirectory, dev }: Options): void {
  const where =
    dataDirectory === undefined ? 'It keeps nothing.' : `These lines are also in ${dataDirectory}/env.`;
  const who = dev ? `\n${devModeSentence(url)}` : '';
  console.log(
    `The service is ready; Ctrl-C ends it. ${where}${who}\n\n${toLines(variables)}\n` +
      `Look at it in a browser: ${url}/console. Sign in with the token above, SVC_TOKEN.\n`,
  );
}

/**
 * Stops the stage on a signal. A signal during the start waits for the end of the start: the parts of a stage are ended in order.
 */
function stopOnSignals(starting: Promise<Stage>): void {
  let stopping = false;
  const stop = (): void => {
    // Under npm, Ctrl-C arrives twice: from the terminal and from npm.
    if (stopping) return;
    stopping = true;
    starting
      .then((stage) => stage.stop())
      .then(() => process.exit(0))
      .catch((error: unknown) => fail(error, 1));
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  stopWithNpm(stop);
}

/** The interval, ms, of checks whether npm lives. A stage whose npm was killed keeps its port for so long, and while it stops. */
const npmCheckMs = 500;

/**
 * Ends a stage that npm or npx has started when that has ended: a killed npm passes no signal on. The stage is npm's child, because
 * the script in `package.json` replaces the shell (`exec`). A stage that was started otherwise, by systemd or as the first process of
 * a container, may outlive its parent.
 */
function stopWithNpm(stop: () => void): void {
  if (!['start', 'npx'].includes(process.env['npm_lifecycle_event'] ?? '')) return;
  const npm = process.ppid;
  setInterval(() => {
    if (process.ppid !== npm) stop();
  }, npmCheckMs).unref();
}

/** Runs until it is told to end. */
export async function run(args: readonly string[]): Promise<void> {
  // A closed terminal takes no more lines: that must not end attempts in flight.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  const options = parseOptions(args, process.env);
  const starting = startStage({
    ...options,
    announce: (sentence) => {
      console.log(sentence);
    },
    report,
    onFatal: (error) => fail(error, 1),
  });
  stopOnSignals(starting);
  try {
    announce(await starting, options);
  } catch (error) {
    fail(error, error instanceof StageError ? 2 : 1);
  }
}
