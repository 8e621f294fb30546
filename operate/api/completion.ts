/** Completion for shells: they ask `svc-queue completion words` with the words so far. */
import { Argument } from '@commander-js/extra-typings';
import { command, parse } from '../../cli/commandLine.ts';
import { operationOf, operations, type ApiOperation } from './operations.ts';
import { operationIn } from './options.ts';
import { namesOf } from './request.ts';
import { shortcutOf } from './shortcuts.ts';

const scripts = {
  // Bash splits words at `=`; only the part after it is completed.
  bash: `_svc_queue() {
  local IFS=$'\\n'
  COMPREPLY=($(svc-queue completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _svc_queue svc-queue`,
  zsh: `#compdef svc-queue
_svc_queue() {
  local -a found=("\${(@f)$(svc-queue completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -S '' -a -- found
}
compdef _svc_queue svc-queue`,
  fish: `complete -c svc-queue -f -a '(svc-queue completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
};

/** The values of a field that has a fixed set of them. */
function valuesOf({ parameters }: ApiOperation, field: string): readonly string[] {
  const schema = parameters.find(({ name }) => name === field)?.schema;
  const one = schema && 'items' in schema ? schema.items : schema;
  return one && 'enum' in one ? (one.enum ?? []).map(String) : [];
}

const flags = ['--json', '--all', '--data', '--yes', '--help'];

function fieldsOf(name: string, given: readonly string[], current: string): readonly string[] {
  const actions = shortcutOf(name)?.actions ?? {};
  const words =
    name === 'api' ? operations.map(({ id }) => id) : Object.keys(actions).filter((word) => word !== '');
  if (words.length > 0 && given.length === 0) return words;
  const action = actions[given[0] ?? ''] ?? actions[''];
  const operation = name === 'api' ? operationOf(given[0] ?? '') : action && operationIn(action, undefined);
  if (operation === undefined) return flags;
  const [, field] = /^(\w+)=/.exec(current) ?? [];
  if (field !== undefined) return valuesOf(operation, field).map((value) => `${field}=${value}`);
  return [
    ...namesOf(operation)
      .filter((one) => !one.endsWith('*'))
      .map((one) => `${one}=`),
    ...flags,
  ];
}

/** @param words of the command line after `svc-queue`; the last is incomplete */
function candidates(words: readonly string[], commands: readonly string[]): readonly string[] {
  const joined = words.join('\0').replaceAll('\0=', '=').replaceAll('=\0', '=').split('\0');
  const current = joined.at(-1) ?? '';
  const [name, ...given] = joined.slice(0, -1);
  const all = name === undefined ? commands : fieldsOf(name, given, current);
  const start =
    joined.length < words.length ? current.length - (words.at(-1)?.replace('=', '').length ?? 0) : 0;
  return all.filter((one) => one.startsWith(current)).map((one) => one.slice(start));
}

/** @throws Ending */
export function completion(args: readonly string[], commands: readonly string[]): string {
  const [shell, words] = parse(
    command('completion', 'Prints the completion for a shell.')
      .addArgument(
        new Argument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish', 'words'] as const),
      )
      .argument('[words...]', 'after words, which the shells call')
      .addHelpText('after', '\nExample, for ~/.bashrc:\n  eval "$(svc-queue completion bash)"'),
    args,
  ).processedArgs;
  return shell === 'words' ? candidates(words, commands).join('\n') : scripts[shell];
}
