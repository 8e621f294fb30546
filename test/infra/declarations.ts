/** The top-level declarations of the source files that run on Lambda, and the declarations that each refers to. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';
import { parseAst } from 'vite';
import { root } from './app.ts';

export const lambdas = join(root, 'lambdas');

export interface Declaration {
  /** Its path from the root, and its name. */
  readonly file: string;
  readonly name: string;
  readonly identifiers: ReadonlySet<string>;
  /** Properties that it reads, by `.name` or by destructuring. */
  readonly members: ReadonlySet<string>;
  /** The AWS SDK commands that it makes, without the word `Command`. */
  readonly operations: readonly {
    readonly operation: string;
    /** The function that makes the command, if the declaration returns an object of functions. */
    readonly method: string | undefined;
  }[];
  /** The index that a query names. */
  readonly index: string | undefined;
  readonly refersTo: () => readonly Declaration[];
}

interface Module {
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** Names for something in another file, or for something in this one under another name. */
  readonly aliases: ReadonlyMap<string, Alias>;
  readonly reexports: readonly Alias[];
}

interface Alias {
  readonly file: string;
  readonly name: string;
}

/** A node of an ESTree syntax tree. */
interface Node {
  readonly type: string;
}
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const part = (node: Node, key: string): unknown => Reflect.get(node, key);
const nodeAt = (node: Node, key: string): Node | undefined => {
  const found = part(node, key);
  return isNode(found) ? found : undefined;
};
function nodesAt(node: Node, key: string): readonly Node[] {
  const found = part(node, key);
  return Array.isArray(found) ? found.filter(isNode) : [];
}

/** A node's children, with their keys. */
const below = (node: Node): readonly (readonly [string, Node])[] =>
  Object.entries(node).flatMap(([key, value]: [string, unknown]) =>
    (Array.isArray(value) ? value : [value]).filter(isNode).map((child) => [key, child] as const),
  );

function* within(node: Node): Generator<Node> {
  yield node;
  for (const [, child] of below(node)) yield* within(child);
}

/** The name of an identifier, or the value of a text. */
function textOf(node: Node | undefined): string | undefined {
  const text = node?.type === 'Identifier' ? part(node, 'name') : node && part(node, 'value');
  return typeof text === 'string' ? text : undefined;
}

const isPlainName = (node: Node, key: string): boolean =>
  part(node, 'computed') !== true &&
  ((node.type === 'MemberExpression' && key === 'property') || (node.type === 'Property' && key === 'key'));

/** Names that refer to something, without those of properties. */
function* identifiersIn(node: Node): Generator<string> {
  if (node.type === 'Identifier') yield textOf(node) ?? '';
  for (const [key, child] of below(node)) if (!isPlainName(node, key)) yield* identifiersIn(child);
}

function* membersIn(root: Node): Generator<string> {
  for (const node of within(root)) {
    if (node.type === 'MemberExpression') yield textOf(nodeAt(node, 'property')) ?? '';
    if (node.type === 'ObjectPattern')
      for (const property of nodesAt(node, 'properties')) yield textOf(nodeAt(property, 'key')) ?? '';
  }
}

function* commandsIn(root: Node): Generator<string> {
  for (const node of within(root)) {
    const made = node.type === 'NewExpression' ? textOf(nodeAt(node, 'callee')) : undefined;
    if (made?.endsWith('Command') === true) yield made.slice(0, -'Command'.length);
  }
}

/** The functions of the object that a function returns, by name; empty if it returns something else. */
function methodsIn(root: Node): ReadonlyMap<string, Node> {
  const body = nodeAt(root, 'body');
  const statements = body === undefined ? [] : nodesAt(body, 'body');
  const last = statements.find(({ type }) => type === 'ReturnStatement');
  const returned = last && nodeAt(last, 'argument');
  if (returned?.type !== 'ObjectExpression') return new Map();
  const functions = new Map(
    statements
      .filter(({ type }) => type === 'FunctionDeclaration')
      .map((node) => [textOf(nodeAt(node, 'id')), node]),
  );
  return new Map(
    nodesAt(returned, 'properties').flatMap((property) => {
      const name = textOf(nodeAt(property, 'key'));
      const value = nodeAt(property, 'value');
      if (name === undefined || value === undefined) return [];
      return [[name, functions.get(textOf(value)) ?? value]] as const;
    }),
  );
}

function operationsIn(root: Node): Declaration['operations'] {
  const methods = [...methodsIn(root)].map(([method, node]) => ({
    method,
    operations: [...commandsIn(node)],
  }));
  const ofMethods = methods.flatMap(({ method, operations }) =>
    operations.map((operation) => ({ operation, method })),
  );
  const others = [...commandsIn(root)].filter(
    (made) => !ofMethods.some(({ operation }) => operation === made),
  );
  return [...ofMethods, ...others.map((operation) => ({ operation, method: undefined }))];
}

function indexIn(root: Node): string | undefined {
  for (const node of within(root)) {
    if (node.type === 'Property' && textOf(nodeAt(node, 'key')) === 'IndexName')
      return textOf(nodeAt(node, 'value'));
  }
  return undefined;
}

const pathFrom = (file: string, imported: string): string | undefined =>
  imported.startsWith('.') ? join(dirname(file), imported) : undefined;

/** The files that a declaration imports when it runs. */
const importedLater = (root: Node, file: string): readonly string[] =>
  [...within(root)].flatMap((node) => {
    const source = node.type === 'ImportExpression' ? textOf(nodeAt(node, 'source')) : undefined;
    return (source && pathFrom(file, source)) ?? [];
  });

/** Begins the name of a top-level statement that declares nothing. */
const statementName = 'statement';
const isStatement = ({ name }: Declaration): boolean => name.startsWith(`${statementName} `);

function declarationOf(file: string, name: string, node: Node): Declaration {
  const identifiers = new Set(identifiersIn(node));
  const later = importedLater(node, file);
  return {
    file: file.slice(root.length + 1),
    name,
    identifiers,
    members: new Set(membersIn(node)),
    operations: operationsIn(node),
    index: indexIn(node),
    refersTo: () => [
      ...[...identifiers].flatMap((identifier) => (identifier === name ? [] : resolve(file, identifier))),
      ...later.flatMap(exportsOf),
      // Loading a file runs its statements, for example those that plug one concept into another.
      ...[...read(file).declarations.values()].filter((own) => isStatement(own) && own.name !== name),
    ],
  };
}

function resolve(file: string, name: string): readonly Declaration[] {
  const { declarations, aliases } = read(file);
  const own = declarations.get(name);
  if (own !== undefined) return [own];
  const alias = aliases.get(name);
  return alias === undefined ? [] : resolve(alias.file, alias.name);
}

const modules = new Map<string, Module>();

function read(file: string): Module {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const { code } = transformSync(readFileSync(file, 'utf8'), { loader: 'ts', target: 'es2023' });
  const declarations = new Map<string, Declaration>();
  const aliases = new Map<string, Alias>();
  const reexports: Alias[] = [];
  const declare = (id: Node | undefined, node: Node): void => {
    for (const name of id === undefined ? [] : identifiersIn(id))
      declarations.set(name, declarationOf(file, name, node));
  };
  const alias = (node: Node, local: string, imported: string): void => {
    const from = textOf(nodeAt(node, 'source'));
    const other = from === undefined ? file : pathFrom(file, from);
    if (other === undefined) return;
    for (const specifier of nodesAt(node, 'specifiers')) {
      const name = textOf(nodeAt(specifier, local));
      const its = textOf(nodeAt(specifier, imported));
      if (name !== undefined && its !== undefined && !(other === file && name === its))
        aliases.set(name, { file: other, name: its });
      if (its !== undefined && node.type === 'ExportNamedDeclaration')
        reexports.push({ file: other, name: its });
    }
  };
  const program: unknown = parseAst(code);
  for (const statement of isNode(program) ? nodesAt(program, 'body') : []) {
    const node = nodeAt(statement, 'declaration') ?? statement;
    if (node.type === 'ImportDeclaration') alias(node, 'local', 'imported');
    else if (node.type === 'ExportNamedDeclaration') alias(node, 'exported', 'local');
    else if (node.type === 'VariableDeclaration')
      for (const one of nodesAt(node, 'declarations')) declare(nodeAt(one, 'id'), nodeAt(one, 'init') ?? one);
    else if (node.type === 'ExpressionStatement') {
      const name = `${statementName} ${String(declarations.size)}`;
      declarations.set(name, declarationOf(file, name, node));
    } else declare(nodeAt(node, 'id'), node);
  }
  const made = { declarations, aliases, reexports };
  modules.set(file, made);
  return made;
}

/** A file's declarations, and those that it re-exports. */
const exportsOf = (file: string): readonly Declaration[] => [
  ...declarationsOf(file),
  ...read(file).reexports.flatMap((alias) => resolve(alias.file, alias.name)),
];

export const declarationsOf = (file: string): readonly Declaration[] => [...read(file).declarations.values()];
