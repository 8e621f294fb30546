/** Paths in items, and trees of paths that do not overlap. */
import { attributeOf, setAttribute, type Item, type Value } from '../values.ts';

/** The steps from an item to a value: names and list indexes. */
export type Steps = readonly (string | number)[];

export function valueAt(item: Item, steps: Steps): Value | undefined {
  let value: Value | undefined = { M: item };
  for (const step of steps) {
    value = stepInto(value, step);
    if (value === undefined) return undefined;
  }
  return value;
}

function stepInto(value: Value, step: string | number): Value | undefined {
  if (typeof step === 'number') return 'L' in value ? value.L[step] : undefined;
  return 'M' in value ? attributeOf(value.M, step) : undefined;
}

/** A path as in DynamoDB's error messages. */
export const pathText = (steps: Steps): string =>
  `[${steps.map((step) => (typeof step === 'number' ? `[${step}]` : step)).join(', ')}]`;

export const areSamePaths = (a: Steps, b: Steps): boolean =>
  a.length === b.length && a.every((step, index) => step === b[index]);

export interface PathTree<Leaf> {
  readonly path: Steps;
  readonly leaf?: Leaf;
  readonly fields: ReadonlyMap<string, PathTree<Leaf>>;
  readonly elements: ReadonlyMap<number, PathTree<Leaf>>;
}

interface Entry<Leaf> {
  readonly steps: Steps;
  readonly leaf: Leaf;
}

/**
 * @param entries in the order of the expression
 * @param refused makes the error for two paths that are equal, or nested, or need both a list and a map in
 * the same place
 */
export function pathTree<Leaf>(
  entries: readonly Entry<Leaf>[],
  refused: (message: string) => Error,
): PathTree<Leaf> {
  return branch(entries, 0);

  function branch(among: readonly Entry<Leaf>[], depth: number): PathTree<Leaf> {
    const path = among.at(-1)?.steps ?? [];
    const ending = among.find(({ steps }) => steps.length === depth);
    const other = among.find((entry) => entry !== ending);
    if (ending !== undefined && other !== undefined) throw clash('overlap', among, ending, other);
    if (ending !== undefined) return { path, leaf: ending.leaf, fields: new Map(), elements: new Map() };
    const fields = new Map<string, Entry<Leaf>[]>();
    const elements = new Map<number, Entry<Leaf>[]>();
    for (const entry of among) {
      const step = entry.steps[depth];
      if (typeof step === 'string') fields.set(step, [...(fields.get(step) ?? []), entry]);
      else if (step !== undefined) elements.set(step, [...(elements.get(step) ?? []), entry]);
    }
    const [field, element] = [[...fields.values()][0]?.[0], [...elements.values()][0]?.[0]];
    if (field !== undefined && element !== undefined) throw clash('conflict', among, field, element);
    const inOrder = [...elements].toSorted(([a], [b]) => a - b);
    return {
      path,
      fields: new Map([...fields].map(([step, below]) => [step, branch(below, depth + 1)])),
      elements: new Map(inOrder.map(([step, below]) => [step, branch(below, depth + 1)])),
    };
  }

  function clash(
    how: 'overlap' | 'conflict',
    among: readonly Entry<Leaf>[],
    a: Entry<Leaf>,
    b: Entry<Leaf>,
  ): Error {
    const [one, two] = among.indexOf(a) < among.indexOf(b) ? [a, b] : [b, a];
    const paths = `path one: ${pathText(one.steps)}, path two: ${pathText(two.steps)}`;
    return refused(
      `Two document paths ${how} with each other; must remove or rewrite one of these paths; ${paths}`,
    );
  }
}

/** Copies the parts of an item that a tree selects. Lists keep only the copied elements. */
export function pick(item: Item, tree: PathTree<unknown>): Item {
  const picked: Record<string, Value> = {};
  for (const [name, below] of tree.fields) {
    const value = attributeOf(item, name);
    const part = value && pickOf(value, below);
    if (part !== undefined) setAttribute(picked, name, part);
  }
  return picked;
}

function pickOf(value: Value, tree: PathTree<unknown>): Value | undefined {
  if ('leaf' in tree) return value;
  if (tree.fields.size > 0) {
    const map = 'M' in value ? pick(value.M, tree) : {};
    return Object.keys(map).length === 0 ? undefined : { M: map };
  }
  const list = 'L' in value ? value.L : [];
  const elements = [...tree.elements].flatMap(([index, below]) => {
    const element = list[index];
    return (element && pickOf(element, below)) ?? [];
  });
  return elements.length === 0 ? undefined : { L: elements };
}
