/** The arguments of all commands. The help and the error messages are made from their descriptions. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Command, CommanderError, InvalidArgumentError } from '@commander-js/extra-typings';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Ends a command before it starts: with its help (exit status 0), or for invalid arguments (2). */
export class Ending extends Error {
  readonly exitStatus: 0 | 2;

  /** @param text everything that is printed */
  constructor(text: string, exitStatus: 0 | 2) {
    super(text);
    this.exitStatus = exitStatus;
  }
}

/** Names a command as it was called. Without the two dashes, npm would take the flags. */
function calledAs(name: string): string {
  if (process.env['npm_lifecycle_event'] !== name) return `svc-queue ${name}`;
  return name === 'start' ? 'npm start --' : `npm run ${name} --`;
}

export const command = (name: string, about: string) =>
  new Command(calledAs(name))
    .description(about.replaceAll('\n', ' '))
    .helpOption('--help', 'this text')
    .showSuggestionAfterError(false)
    .configureHelp({ helpWidth: 120 })
    .exitOverride();

/** The methods of a command that this module needs, for any types of arguments. */
interface Parses<C> {
  configureOutput(to: { writeOut: (text: string) => void; writeErr: () => void }): C;
  parse(args: readonly string[], from: { from: 'user' }): C;
}

/** @throws Ending */
export function parse<C extends Parses<C>>(of: C, args: readonly string[]): C {
  let help = '';
  const writeOut = (text: string): void => {
    help += text;
  };
  try {
    return of.configureOutput({ writeOut, writeErr: () => undefined }).parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) throw new Ending(help.trimEnd(), 0);
    const sentence = error.message.replace(/^error: /, '').replace(/\.$/, '');
    const text = `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}; --help lists the flags.`;
    throw new Ending(text, 2);
  }
}

/** Prints why a command does not start, and sets the exit status. Other errors are thrown again. */
export function sayEnding(error: unknown): void {
  if (!(error instanceof Ending)) throw error;
  const stream = error.exitStatus === 0 ? process.stdout : process.stderr;
  stream.write(`${error.message}\n`);
  process.exitCode = error.exitStatus;
}

/** Parses this process's arguments, or ends the process with a message. */
export function argumentsOf<T>(read: (args: readonly string[]) => T): T {
  try {
    return read(process.argv.slice(2));
  } catch (error) {
    sayEnding(error);
    process.exit();
  }
}

/** Reads the environment variable that replaces a missing flag. An empty variable is ignored. */
export function fromVariable<T>(
  environment: Environment,
  name: string,
  read: (text: string) => T,
): T | undefined {
  const text = environment[name];
  if (text === undefined || text === '') return undefined;
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new Ending(`The variable ${name} is '${text}'. ${error.message}`, 2);
  }
}

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,9}$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Allowed is a whole number from ${least} to ${most}.`);
  };
}

export function textLike(form: RegExp, allowed: string): (text: string) => string {
  return (text) => {
    if (form.test(text)) return text;
    throw new InvalidArgumentError(`Allowed is ${allowed}.`);
  };
}

export const folder = textLike(/./, 'the path of a folder');

/** @param given by `--data-dir` */
export const dataDirectoryOf = (given: string | undefined, environment: Environment): string =>
  given ?? fromVariable(environment, 'SVC_DATA_DIR', folder) ?? '.svc';

/** The variables in a file; none if it does not exist. */
export const variablesIn = (file: string): Environment =>
  existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};

/** The variables that the local stage of this folder wrote for its clients. */
export const stageVariables = (environment: Environment): Environment =>
  variablesIn(join(dataDirectoryOf(undefined, environment), 'env'));

export const region = textLike(/^[a-z]{2}(-[a-z]+)+-\d$/, 'a region of AWS such as eu-central-1');

/** Makes a parser of another value of a repeated flag. */
export const oneMore =
  (read: (text: string) => string) =>
  (text: string, all: readonly string[] = []): readonly string[] => [...all, read(text)];

/** Adds a setting, `name=value`. */
export function setting(
  text: string,
  all: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Allowed is name=value, as cdk deploy takes it.');
  return { ...all, [name]: value };
}

export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
