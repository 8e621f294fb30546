/**
 * Parses a CloudWatch Logs Insights query, and refuses what its language does not have ("CloudWatch Logs Insights language
 * query syntax"). Only the commands, functions and operators of our queries are known.
 */

/** A name without backticks: see "Fields that contain special characters". */
const field = '@?[A-Za-z][A-Za-z0-9.]*';
const regex = '/(?:\\\\.|[^/\\\\])+/';
const text = '"[^"\\\\]*"';
const comparison = [
  `ispresent\\((${field})\\)`,
  `(${field}) (?:=|!=) ${text}`,
  `(${field}) in \\[${text}(?:, ${text})*\\]`,
  `(${field}) like (${regex})`,
].join('|');
const aggregate = `(?:count\\(\\*\\)|(?:avg|max|latest)\\((${field})\\)) as ([A-Za-z]+)`;

/** The log's names that a query uses, and those that it makes. */
interface Names {
  readonly used: string[];
  readonly made: string[];
}

const all = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);
const isText = (value: string | undefined): value is string => value !== undefined;

function splitFully(list: string, separator: RegExp, item: string, what: string): RegExpExecArray[] {
  return list.split(separator).map((one) => {
    const found = all(item).exec(one);
    if (found === null) throw new Error(`${what} is not understood: ${one}`);
    return found;
  });
}

const commands: Readonly<Record<string, (rest: string, names: Names) => void>> = {
  fields: (rest, { used }) => {
    for (const [name] of splitFully(rest, /, /, field, 'A field')) used.push(name);
  },
  filter: (rest, { used }) => {
    for (const [, ...groups] of splitFully(rest, / (?:and|or) /, comparison, 'A condition')) {
      for (const one of groups.filter(isText)) {
        if (one.startsWith('/')) new RegExp(one.slice(1, -1));
        else used.push(one);
      }
    }
  },
  parse: (rest, { used, made }) => {
    const [, name, pattern] = all(`(${field}) (${regex})`).exec(rest) ?? [];
    if (name === undefined || pattern === undefined) throw new Error(`A parse is not understood: ${rest}`);
    used.push(name);
    made.push(...[...pattern.matchAll(/\(\?<(\w+)>/g)].flatMap(([, group]) => group ?? []));
    new RegExp(pattern.slice(1, -1));
  },
  stats: (rest, { used, made }) => {
    const [functions = '', by = ''] = rest.split(' by ');
    const aliases = splitFully(functions, /, /, aggregate, 'An aggregate').map(([, name, alias = '']) => {
      if (name !== undefined) used.push(name);
      return alias;
    });
    const groups = splitFully(by, /, /, field, 'A group').map(([name]) => name);
    used.push(...groups.filter((name) => !made.includes(name)));
    made.splice(0, Infinity, ...aliases, ...groups);
  },
  sort: (rest, { used, made }) => {
    const [, name] = all(`(${field}) (?:asc|desc)`).exec(rest) ?? [];
    if (name === undefined) throw new Error(`A sort is not understood: ${rest}`);
    if (!made.includes(name)) used.push(name);
  },
  limit: (rest) => {
    if (!/^\d+$/.test(rest) || Number(rest) > 10_000) throw new Error(`A limit is at most 10,000: ${rest}`);
  },
};

/**
 * @returns the fields of the log that the query uses
 * @throws Error if the language does not allow the query
 */
export function fieldsOfQuery(query: string): readonly string[] {
  const names: Names = { used: [], made: [] };
  let isAggregated = false;
  for (const command of query.split('\n| ')) {
    const [, verb = '', rest = ''] = /^([a-z]+) (.+)$/s.exec(command) ?? [];
    const read = Object.hasOwn(commands, verb) ? commands[verb] : undefined;
    if (read === undefined) throw new Error(`There is no command ${command}`);
    const before = names.used.length;
    read(rest, names);
    // After stats, only its own names exist.
    if (isAggregated && names.used.length > before)
      throw new Error(`${command} names what stats did not make.`);
    isAggregated ||= verb === 'stats';
  }
  return names.used;
}
