/** `svc-queue start`: the whole service on this machine. */
import { devModeSentence } from '../../local/stage/devMode.ts';
import { parseOptions, type Options } from '../../local/stage/options.ts';
import { isOpen } from '../../local/network/network.ts';
import { startStage, toLines, type Stage } from '../../local/stage/stage.ts';
import { StageError } from '../../local/stage/stageError.ts';
import { jsonLines, sentences, type StageLog } from '../stageLog.ts';

type Fail = (error: unknown, exitCode: number) => never;

/** Tells how to use it. The output of a server is collected and kept, so it has no secrets. */
function announce({ url, variables }: Stage, { dataDirectory, dev, network }: Options, log: StageLog): void {
  if (isOpen(network)) {
    log.info(
      `The service is ready at ${url}. Tokens and keys are in ${dataDirectory ?? ''}/env; the console is at ${url}/console.`,
    );
    return;
  }
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
function stopOnSignals(starting: Promise<Stage>, fail: Fail): void {
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
  // A closed terminal refuses output. This must not end attempts in flight.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  const options = parseOptions(args, process.env);
  // Files that the stage makes, those of the store among them, are their owner's alone.
  process.umask(0o077);
  const log = isOpen(options.network) ? jsonLines : sentences;
  const fail: Fail = (error, exitCode) => {
    log.error(error);
    process.exit(exitCode);
  };
  const starting = startStage({
    ...options,
    announce: log.info,
    report: log.error,
  });
  stopOnSignals(starting, fail);
  try {
    announce(await starting, options, log);
  } catch (error) {
    fail(error, error instanceof StageError ? 2 : 1);
  }
}
