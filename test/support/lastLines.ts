import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const shown = 10;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const secondsOf = (module: TestModule): number => module.diagnostic().duration / 1000;

/** Prints, at the end of a run, the slowest files, and the command that runs each failed test again. */
export class LastLines implements Reporter {
  readonly #draw: string;

  /** @param draw the run's `SVC_DRAW`, which a new commit would change */
  constructor(draw: string) {
    this.#draw = draw;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const slowest = modules.toSorted((one, other) => secondsOf(other) - secondsOf(one)).slice(0, shown);
    if (modules.length > shown) {
      print('Slowest files:');
      for (const module of slowest) {
        print(`  ${secondsOf(module).toFixed(1).padStart(6)} s  ${pathOf(module)}`);
      }
    }
    const failed = modules.flatMap((module) => [...module.children.allTests('failed')]);
    const unloaded = modules.filter((module) => module.errors().length > 0);
    if (failed.length + unloaded.length > 0) print('Run again what failed:');
    for (const module of unloaded) print(`  ${this.#commandFor(module)}`);
    for (const { module, fullName } of failed)
      print(`  ${this.#commandFor(module)} -t ${patternOf(fullName)}`);
  }

  #commandFor(module: TestModule): string {
    return `SVC_DRAW=${this.#draw} npx vitest run --project '${module.project.name}' ${pathOf(module)}`;
  }
}

const pathOf = ({ moduleId }: TestModule): string => relative(process.cwd(), moduleId);

/** A title as a pattern, quoted for a shell. Vitest joins titles with spaces. */
const patternOf = (fullName: string): string =>
  `'^${fullName
    .replaceAll(' > ', ' ')
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("'", '.')}$'`;
