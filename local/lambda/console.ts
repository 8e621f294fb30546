import { setVariables } from './environment.ts';
import { loadFunction, type FunctionOptions, type LambdaFunction } from './lambda.ts';

/**
 * Makes the console's function. The console is built when it is first requested, because most stages do not
 * need it.
 */
export function consoleFunction(options: FunctionOptions): LambdaFunction {
  let loading: Promise<LambdaFunction> | undefined;
  return {
    name: 'console',
    invoke: async (event) => {
      loading ??= load(options);
      try {
        return await (await loading).invoke(event);
      } catch (error) {
        loading = undefined;
        throw error;
      }
    },
  };
}

async function load(options: FunctionOptions): Promise<LambdaFunction> {
  const { writeConsole } = await import('../../console/build.ts');
  setVariables({ CONSOLE_DIRECTORY: writeConsole() });
  return loadFunction('console', options);
}
