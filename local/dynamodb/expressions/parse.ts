/**
 * The grammars of conditions, updates and projections. Everything is checked here that does not depend on
 * names and values.
 */
import type { Action, CallNode, Comparator, Condition, Operand, Path, Section } from './nodes.ts';
import { isReserved } from './reserved.ts';
import type { Tokens } from './tokens.ts';

interface Grammar {
  /** The kind of expression, for error messages. */
  readonly what: string;
  /** Words that are not names, in upper case. */
  readonly keywords: ReadonlySet<string>;
  /** How many operands each function has. */
  readonly functions: ReadonlyMap<string, number>;
}

const conditions: Grammar = {
  what: 'a condition',
  keywords: new Set(['AND', 'OR', 'NOT', 'BETWEEN', 'IN']),
  functions: new Map([
    ['attribute_exists', 1],
    ['attribute_not_exists', 1],
    ['attribute_type', 2],
    ['begins_with', 2],
    ['contains', 2],
    ['size', 1],
  ]),
};
const updates: Grammar = {
  what: 'an update',
  keywords: new Set(['SET', 'REMOVE', 'ADD', 'DELETE']),
  functions: new Map([
    ['if_not_exists', 2],
    ['list_append', 2],
  ]),
};
const projections: Grammar = { what: 'a projection', keywords: new Set(), functions: new Map() };

const maxIndex = 2 ** 31 - 1;
const maxSteps = 32;
const maxAlternatives = 100;

/** @throws AwsError if the expression is invalid, or parentheses are directly inside parentheses */
export const parseCondition = (tokens: Tokens): Condition => new ConditionParser(tokens).parse();

type Part = Condition | Operand;

const comparators: ReadonlySet<string> = new Set(['=', '<>', '<', '<=', '>', '>=']);
const isComparator = (sign: string): sign is Comparator => comparators.has(sign);

/** The deepest nesting of `AND`, `OR`, `NOT` and parentheses. Deeper nesting could overflow the stack. */
const maxDepth = 320;

class ConditionParser {
  readonly #tokens: Tokens;
  readonly #enclosed = new Set<Part>();
  #depth = 0;

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
  }

  parse(): Condition {
    const condition = this.#condition(this.#alternatives());
    this.#tokens.end();
    return condition;
  }

  /** An operand cannot be a condition, so the next token is wrong. */
  #condition(part: Part): Condition {
    if (part.kind === 'path' || part.kind === 'value' || part.kind === 'sum')
      throw this.#tokens.syntaxError();
    if (part.kind === 'call' && part.name === 'size') this.#tokens.wrong(misused(part.name));
    return part;
  }

  /** A condition cannot be an operand, so the next token is wrong. */
  #operand(part: Part): Operand {
    if (part.kind === 'call' && part.name !== 'size') this.#tokens.wrong(misused(part.name));
    if (part.kind === 'path' || part.kind === 'value' || part.kind === 'call') return part;
    throw this.#tokens.syntaxError();
  }

  #alternatives(): Part {
    let left = this.#conjunction();
    while (this.#tokens.isKeyword('OR')) {
      const before = this.#condition(left);
      this.#tokens.takeOperator();
      left = { kind: 'or', left: before, right: this.#condition(this.#conjunction()) };
    }
    return left;
  }

  #conjunction(): Part {
    let left = this.#negation();
    while (this.#tokens.isKeyword('AND')) {
      const before = this.#condition(left);
      this.#tokens.takeOperator();
      left = { kind: 'and', left: before, right: this.#condition(this.#negation()) };
    }
    return left;
  }

  #negation(): Part {
    if (!this.#tokens.isKeyword('NOT')) return this.#comparison();
    this.#tokens.takeOperator();
    return this.#nested(() => ({ kind: 'not', condition: this.#condition(this.#negation()) }));
  }

  #comparison(): Part {
    const left = this.#primary();
    const { kind, text } = this.#tokens.peek();
    if (kind === 'sign' && isComparator(text)) {
      const operand = this.#operand(left);
      this.#tokens.takeOperator();
      return { kind: 'comparison', operator: text, left: operand, right: this.#operand(this.#primary()) };
    }
    if (this.#tokens.isKeyword('BETWEEN')) return this.#between(this.#operand(left));
    return this.#tokens.isKeyword('IN') ? this.#in(this.#operand(left)) : left;
  }

  #between(operand: Operand): Condition {
    this.#tokens.takeOperator();
    const low = this.#operand(this.#primary());
    if (!this.#tokens.isKeyword('AND')) throw this.#tokens.syntaxError();
    this.#tokens.take();
    return { kind: 'between', operand, low, high: this.#operand(this.#primary()) };
  }

  #in(operand: Operand): Condition {
    this.#tokens.takeOperator();
    const list = listOf(this.#tokens, () => this.#operand(this.#primary()));
    if (list.length > maxAlternatives) {
      this.#tokens.wrong(
        `The IN operator is provided with too many operands; number of operands: ${list.length}`,
      );
    }
    return { kind: 'in', operand, list };
  }

  #primary(): Part {
    if (!this.#tokens.takeSign('('))
      return operandOf(this.#tokens, conditions, () => this.#operand(this.#primary()));
    const inner = this.#nested(() => this.#alternatives());
    this.#tokens.needSign(')');
    if (this.#enclosed.has(inner)) throw this.#tokens.refused('The expression has redundant parentheses;');
    this.#enclosed.add(inner);
    return inner;
  }

  #nested<Result>(parse: () => Result): Result {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw this.#tokens.syntaxError();
    const result = parse();
    this.#depth -= 1;
    return result;
  }
}

/** Parses a placeholder of a value, a path, or a function call. */
function operandOf(tokens: Tokens, grammar: Grammar, parseInner: () => Operand): Operand {
  const { kind, text } = tokens.peek();
  if (kind === 'value') {
    tokens.take();
    return { kind: 'value', name: text };
  }
  const next = tokens.peek(1);
  const isCall = kind === 'word' && next.kind === 'sign' && next.text === '(' && !isKeyword(grammar, text);
  return isCall ? callOf(tokens, grammar, parseInner) : { kind: 'path', path: pathOf(tokens, grammar) };
}

function callOf(tokens: Tokens, { what, functions }: Grammar, parseInner: () => Operand): CallNode {
  const name = tokens.takeOperator().text;
  const isOfOther = [conditions, updates].some((other) => other.functions.has(name));
  if (!functions.has(name)) {
    tokens.wrong(
      isOfOther
        ? `The function is not allowed in ${what} expression; function: ${name}`
        : `Invalid function name; function: ${name}`,
    );
  }
  const operands = listOf(tokens, parseInner);
  if (operands.length !== functions.get(name)) {
    tokens.wrong(
      `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${operands.length}`,
    );
  }
  if (name === 'list_append' && operands.some((inner) => inner.kind === 'call' && inner.name === name)) {
    tokens.wrong(misused(name));
  }
  return { kind: 'call', name, operands };
}

const misused = (name: string): string =>
  `The function is not allowed to be used this way in an expression; function: ${name}`;

function listOf(tokens: Tokens, parseInner: () => Operand): readonly Operand[] {
  tokens.needSign('(');
  const list = [parseInner()];
  while (tokens.takeSign(',')) list.push(parseInner());
  tokens.needSign(')');
  return list;
}

function pathOf(tokens: Tokens, grammar: Grammar): Path {
  const path: (string | number)[] = [nameOf(tokens, grammar)];
  for (;;) {
    if (tokens.takeSign('.')) path.push(nameOf(tokens, grammar));
    else if (tokens.takeSign('[')) {
      if (tokens.peek().kind !== 'index') throw tokens.syntaxError();
      const index = Number(tokens.take().text);
      if (index > maxIndex) {
        tokens.wrong(`List index is not within the allowable range; index: [${index}]`);
      }
      path.push(index);
      tokens.needSign(']');
    } else break;
  }
  if (path.length > maxSteps) {
    tokens.wrong(`The document path has too many nesting levels; nesting levels: ${path.length}`);
  }
  return path;
}

function nameOf(tokens: Tokens, grammar: Grammar): string {
  const { kind, text } = tokens.peek();
  if (kind !== 'name' && (kind !== 'word' || isKeyword(grammar, text))) throw tokens.syntaxError();
  tokens.take();
  if (isReserved(text)) tokens.wrong(`Attribute name is a reserved keyword; reserved keyword: ${text}`);
  return text;
}

const isKeyword = ({ keywords }: Grammar, word: string): boolean => keywords.has(word.toUpperCase());

/** @throws AwsError if the expression is invalid */
export function parseProjection(tokens: Tokens): readonly Path[] {
  const paths = [pathOf(tokens, projections)];
  while (tokens.takeSign(',')) paths.push(pathOf(tokens, projections));
  tokens.end();
  return paths;
}

const isSection = (word: string): word is Section => updates.keywords.has(word);

/** @throws AwsError if the expression is invalid */
export function parseUpdate(tokens: Tokens): readonly Action[] {
  const found = new Set<Section>();
  const actions: Action[] = [];
  do {
    const section = tokens.peek().text.toUpperCase();
    if (!isSection(section)) throw tokens.syntaxError();
    tokens.take();
    if (found.has(section)) {
      tokens.wrong(`The "${section}" section can only be used once in an update expression;`);
    }
    found.add(section);
    do actions.push(actionOf(tokens, section));
    while (tokens.takeSign(','));
  } while (tokens.peek().kind !== 'end');
  tokens.end();
  return actions;
}

function actionOf(tokens: Tokens, section: Section): Action {
  const path = pathOf(tokens, updates);
  if (section === 'REMOVE') return { section, path };
  if (section === 'SET') {
    tokens.needSign('=');
    return { section, path, value: updateValue(tokens) };
  }
  const { kind, text } = tokens.peek();
  if (kind !== 'value') throw tokens.syntaxError();
  tokens.take();
  return { section, path, value: { kind: 'value', name: text } };
}

/** Parses an operand, or a sum or difference of two, with or without parentheses. */
function updateValue(tokens: Tokens, depth = 0): Operand {
  const left = updateOperand(tokens, depth, updateValue);
  if (left.kind === 'sum') return left;
  for (const operator of ['+', '-'] as const) {
    if (tokens.isSign(operator)) {
      tokens.takeOperator();
      return { kind: 'sum', operator, left, right: updateOperand(tokens) };
    }
  }
  return left;
}

/**
 * @param depth the number of enclosing parentheses
 * @param parseEnclosed parses the content of parentheses
 */
function updateOperand(
  tokens: Tokens,
  depth = 0,
  parseEnclosed: (tokens: Tokens, depth: number) => Operand = updateOperand,
): Operand {
  if (depth > maxDepth || !tokens.isSign('(')) {
    return operandOf(tokens, updates, () => updateOperand(tokens));
  }
  tokens.take();
  const operand = parseEnclosed(tokens, depth + 1);
  tokens.needSign(')');
  return operand;
}
